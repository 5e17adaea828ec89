// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is laid out: executable sections first, then read-only data, each at its own alignment, in the object's order.
// What is applied: relocations relative to the place itself. AArch64 addresses data by page (ADRP) and offset in the
// page, which is also free of the load address as long as that is a multiple of the page.
#include "codegen/flat_link.hpp"

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MathExtras.h"

#include <map>

namespace smelt::aot::cpu {
namespace {

using llvm::object::ELF64LE;
using Elf = llvm::object::ELFFile<ELF64LE>;

template <class T>
Result<T> take(llvm::Expected<T> value, std::string_view what) {
  if (value) return std::move(*value);
  return fail(Errc::compile_failed, "flat link: {}: {}", what, llvm::toString(value.takeError()));
}

/// The low `bits` of `value` at `shift` in the instruction word at `place`.
void patch_bits(std::byte* place, uint64_t value, unsigned shift, unsigned bits) {
  const uint32_t mask = ((uint64_t{1} << bits) - 1) << shift;
  const uint32_t word = load_le<uint32_t>(place);
  store_le<uint32_t>(place, (word & ~mask) | ((static_cast<uint32_t>(value) << shift) & mask));
}

class Linker {
 public:
  explicit Linker(const Elf& elf) : elf_(elf) {}

  Result<FlatCode> link(std::string_view entry) {
    SMELT_TRY(const auto sections, take(elf_.sections(), "sections"));
    sections_ = sections;
    SMELT_TRY_VOID(refuse_writable());
    SMELT_TRY_VOID(place(true));
    SMELT_TRY_VOID(place(false));
    SMELT_TRY_VOID(relocate_all());
    SMELT_TRY(const uint64_t at, entry_offset(entry));
    return FlatCode{std::move(bytes_), at};
  }

 private:
  using Section = ELF64LE::Shdr;
  using Symbol = ELF64LE::Sym;

  static bool is_laid_out(const Section& section) {
    return (section.sh_flags & llvm::ELF::SHF_ALLOC) != 0 && section.sh_type == llvm::ELF::SHT_PROGBITS;
  }

  std::string name_of(const Section& section) const {
    auto name = elf_.getSectionName(section);
    if (name) return name->str();
    llvm::consumeError(name.takeError());
    return "?";
  }

  Result<void> refuse_writable() const {
    for (const Section& section : sections_) {
      if ((section.sh_flags & llvm::ELF::SHF_ALLOC) == 0 || section.sh_size == 0) continue;
      if (section.sh_flags & llvm::ELF::SHF_TLS)
        return fail(Errc::compile_failed, "flat link: section {} is thread-local storage", name_of(section));
      if (section.sh_flags & llvm::ELF::SHF_WRITE)
        return fail(Errc::compile_failed, "flat link: section {} has {} bytes of writable data", name_of(section),
                    uint64_t{section.sh_size});
      if (section.sh_type != llvm::ELF::SHT_PROGBITS)
        return fail(Errc::compile_failed, "flat link: section {} has type {}; only code and constants can be placed",
                    name_of(section), uint32_t{section.sh_type});
    }
    return {};
  }

  Result<void> place(bool executable) {
    for (size_t i = 0; i < sections_.size(); ++i) {
      const Section& section = sections_[i];
      if (!is_laid_out(section) || ((section.sh_flags & llvm::ELF::SHF_EXECINSTR) != 0) != executable) continue;
      SMELT_TRY(const auto contents, take(elf_.getSectionContents(section), name_of(section)));
      const uint64_t alignment = std::max<uint64_t>(section.sh_addralign, 1);
      if (alignment > 64 || !llvm::isPowerOf2_64(alignment))
        return fail(Errc::compile_failed, "flat link: section {} needs alignment {}; at most 64 is supported",
                    name_of(section), alignment);
      bytes_.resize(llvm::alignTo(bytes_.size(), alignment));
      offset_of_section_[i] = bytes_.size();
      const auto* data = reinterpret_cast<const std::byte*>(contents.data());
      bytes_.insert(bytes_.end(), data, data + contents.size());
    }
    return {};
  }

  Result<void> relocate_all() {
    for (const Section& section : sections_) {
      if (section.sh_type != llvm::ELF::SHT_RELA) continue;
      const auto target = offset_of_section_.find(section.sh_info);
      if (target == offset_of_section_.end()) continue;  // notes, debug information: not part of the blob
      SMELT_TRY(const auto relocations, take(elf_.relas(section), name_of(section)));
      SMELT_TRY(const auto* symbols, take(elf_.getSection(section.sh_link), "symbol table"));
      for (const auto& relocation : relocations) SMELT_TRY_VOID(relocate(relocation, *target, *symbols));
    }
    return {};
  }

  Result<void> relocate(const ELF64LE::Rela& relocation, std::pair<size_t, uint64_t> target, const Section& symbols) {
    const uint32_t type = relocation.getType(false);
    const Section& section = sections_[target.first];
    if (relocation.r_offset > section.sh_size || section.sh_size - relocation.r_offset < 4)
      return fail(Errc::compile_failed, "flat link: a relocation is outside section {}", name_of(section));
    const uint64_t place = target.second + relocation.r_offset;
    SMELT_TRY(const auto* symbol, take(elf_.getRelocationSymbol(relocation, &symbols), "relocation symbol"));
    SMELT_TRY(const uint64_t base, address_of(symbol, symbols));
    const uint64_t value = base + static_cast<uint64_t>(int64_t{relocation.r_addend});
    const bool done = elf_.getHeader().e_machine == llvm::ELF::EM_X86_64 ? apply_x86_64(type, place, value)
                                                                         : apply_aarch64(type, place, value);
    if (done) return {};
    return fail(Errc::compile_failed, "flat link: relocation {} at {}+{:#x} depends on where the code is loaded",
                llvm::object::getELFRelocationTypeName(elf_.getHeader().e_machine, type).str(), name_of(section),
                uint64_t{relocation.r_offset});
  }

  Result<uint64_t> address_of(const Symbol* symbol, const Section& symbols) {
    if (symbol == nullptr) return fail(Errc::compile_failed, "flat link: a relocation without a symbol");
    std::string name = "?";
    if (auto strings = elf_.getStringTableForSymtab(symbols, sections_)) {
      if (auto text = symbol->getName(*strings))
        name = text->str();
      else
        llvm::consumeError(text.takeError());
    } else {
      llvm::consumeError(strings.takeError());
    }
    if (symbol->st_shndx == llvm::ELF::SHN_UNDEF)
      return fail(Errc::compile_failed, "flat link: undefined symbol {}: the kernel would call a library", name);
    const auto section = offset_of_section_.find(symbol->st_shndx);
    if (section == offset_of_section_.end())
      return fail(Errc::compile_failed, "flat link: symbol {} is in no section of code or constants", name);
    return section->second + symbol->st_value;
  }

  bool apply_x86_64(uint32_t type, uint64_t place, uint64_t value) {
    const int64_t relative = static_cast<int64_t>(value - place);
    switch (type) {
      case llvm::ELF::R_X86_64_PC32:
      case llvm::ELF::R_X86_64_PLT32:
        if (!llvm::isInt<32>(relative)) return false;
        store_le<uint32_t>(&bytes_[place], static_cast<uint32_t>(relative));
        return true;
      case llvm::ELF::R_X86_64_PC64:
        if (bytes_.size() - place < 8) return false;
        store_le<uint64_t>(&bytes_[place], static_cast<uint64_t>(relative));
        return true;
      default:
        return false;
    }
  }

  bool apply_aarch64(uint32_t type, uint64_t place, uint64_t value) {
    std::byte* at = &bytes_[place];
    const int64_t relative = static_cast<int64_t>(value - place);
    const auto load_store = [&](unsigned size_log2) {
      if (value & ((1u << size_log2) - 1)) return false;
      patch_bits(at, (value & 0xfff) >> size_log2, 10, 12);
      return true;
    };
    const auto branch = [&](unsigned shift, unsigned bits) {
      if ((relative & 3) != 0 || !llvm::isIntN(bits + 2, relative)) return false;
      patch_bits(at, static_cast<uint64_t>(relative) >> 2, shift, bits);
      return true;
    };
    const auto split_immediate = [&](int64_t immediate) {  // ADR and ADRP: two low bits at 29, nineteen at 5
      if (!llvm::isInt<21>(immediate)) return false;
      patch_bits(at, static_cast<uint64_t>(immediate) & 3, 29, 2);
      patch_bits(at, static_cast<uint64_t>(immediate) >> 2, 5, 19);
      return true;
    };
    switch (type) {
      case llvm::ELF::R_AARCH64_CALL26:
      case llvm::ELF::R_AARCH64_JUMP26:
        return branch(0, 26);
      case llvm::ELF::R_AARCH64_CONDBR19:
      case llvm::ELF::R_AARCH64_LD_PREL_LO19:
        return branch(5, 19);
      case llvm::ELF::R_AARCH64_TSTBR14:
        return branch(5, 14);
      case llvm::ELF::R_AARCH64_ADR_PREL_LO21:
        return split_immediate(relative);
      case llvm::ELF::R_AARCH64_ADR_PREL_PG_HI21:
        return split_immediate((static_cast<int64_t>(value) >> 12) - (static_cast<int64_t>(place) >> 12));
      case llvm::ELF::R_AARCH64_ADD_ABS_LO12_NC:
      case llvm::ELF::R_AARCH64_LDST8_ABS_LO12_NC:
        return load_store(0);
      case llvm::ELF::R_AARCH64_LDST16_ABS_LO12_NC:
        return load_store(1);
      case llvm::ELF::R_AARCH64_LDST32_ABS_LO12_NC:
        return load_store(2);
      case llvm::ELF::R_AARCH64_LDST64_ABS_LO12_NC:
        return load_store(3);
      case llvm::ELF::R_AARCH64_LDST128_ABS_LO12_NC:
        return load_store(4);
      case llvm::ELF::R_AARCH64_PREL32:
        if (!llvm::isInt<32>(relative)) return false;
        store_le<uint32_t>(at, static_cast<uint32_t>(relative));
        return true;
      case llvm::ELF::R_AARCH64_PREL64:
        if (bytes_.size() - place < 8) return false;
        store_le<uint64_t>(at, static_cast<uint64_t>(relative));
        return true;
      default:
        return false;
    }
  }

  Result<uint64_t> entry_offset(std::string_view entry) {
    for (const Section& section : sections_) {
      if (section.sh_type != llvm::ELF::SHT_SYMTAB) continue;
      SMELT_TRY(const auto symbols, take(elf_.symbols(&section), "symbols"));
      SMELT_TRY(const auto strings, take(elf_.getStringTableForSymtab(section, sections_), "symbol names"));
      for (const Symbol& symbol : symbols) {
        SMELT_TRY(const auto name, take(symbol.getName(strings), "symbol name"));
        if (std::string_view(name) != entry || symbol.st_shndx == llvm::ELF::SHN_UNDEF) continue;
        return address_of(&symbol, section);
      }
    }
    return fail(Errc::compile_failed, "flat link: no symbol {}", entry);
  }

  const Elf& elf_;
  ELF64LE::ShdrRange sections_;
  std::map<size_t, uint64_t> offset_of_section_;
  Bytes bytes_;
};

}  // namespace

Result<FlatCode> flat_link(ByteView object, std::string_view entry) {
  const llvm::StringRef text = as_text(object);
  SMELT_TRY(const Elf elf, take(Elf::create(text), "object"));
  const auto machine = elf.getHeader().e_machine;
  if (elf.getHeader().e_ident[llvm::ELF::EI_CLASS] != llvm::ELF::ELFCLASS64 ||
      elf.getHeader().e_ident[llvm::ELF::EI_DATA] != llvm::ELF::ELFDATA2LSB ||
      (machine != llvm::ELF::EM_X86_64 && machine != llvm::ELF::EM_AARCH64))
    return fail(Errc::compile_failed, "flat link: the object is not ELF64 little-endian for x86-64 or AArch64");
  return Linker(elf).link(entry);
}

}  // namespace smelt::aot::cpu
