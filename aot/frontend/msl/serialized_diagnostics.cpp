// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/aot/serialized_diagnostics.hpp"

#include "clang/Frontend/SerializedDiagnostics.h"
#include "llvm/Bitstream/BitstreamWriter.h"

#include <map>

namespace smelt::aot {
namespace {

namespace dia = clang::serialized_diags;

/// One of a record's numbers: a fixed number of bits, or as many as it needs.
llvm::BitCodeAbbrevOp fixed(unsigned bits) {
  return llvm::BitCodeAbbrevOp(llvm::BitCodeAbbrevOp::Fixed, bits);
}
llvm::BitCodeAbbrevOp any() {
  return llvm::BitCodeAbbrevOp(llvm::BitCodeAbbrevOp::VBR, 16);
}

class Writer {
 public:
  Writer() {
    for (const char c : {'D', 'I', 'A', 'G'}) stream_.Emit(static_cast<unsigned char>(c), 8);
    stream_.EnterBlockInfoBlock();
    version_ = add_record(dia::BLOCK_META, dia::RECORD_VERSION, {fixed(32)}, false);
    diagnostic_ =
        add_record(dia::BLOCK_DIAG, dia::RECORD_DIAG, {fixed(3), any(), any(), any(), any(), any(), any()}, true);
    flag_ = add_record(dia::BLOCK_DIAG, dia::RECORD_DIAG_FLAG, {any()}, true);
    file_ = add_record(dia::BLOCK_DIAG, dia::RECORD_FILENAME, {any(), any(), any()}, true);
    stream_.ExitBlock();
    stream_.EnterSubblock(dia::BLOCK_META, 3);
    const uint64_t version[] = {dia::RECORD_VERSION, dia::VersionNumber};
    stream_.EmitRecordWithAbbrev(version_, version);
    stream_.ExitBlock();
  }

  void add(const DiagnosticLine& line) {
    const bool is_note = line.level == DiagnosticLine::Level::note;
    if (!is_note) close();
    stream_.EnterSubblock(dia::BLOCK_DIAG, 4);
    const uint64_t file = id_of(files_, line.file, [&](uint64_t id) {
      emit(file_, {dia::RECORD_FILENAME, id, 0, 0, line.file.size()}, line.file);
    });
    const uint64_t flag = id_of(
        flags_, line.flag, [&](uint64_t id) { emit(flag_, {dia::RECORD_DIAG_FLAG, id, line.flag.size()}, line.flag); });
    emit(diagnostic_,
         {dia::RECORD_DIAG, static_cast<uint64_t>(line.level), file, line.line, line.column, 0, 0, flag,
          line.text.size()},
         line.text);
    if (is_note)
      stream_.ExitBlock();
    else
      is_open_ = true;
  }

  Bytes finish() {
    close();
    stream_.FlushToWord();
    return to_bytes(as_bytes(std::string_view(buffer_.data(), buffer_.size())));
  }

 private:
  /// A record of these numbers; `with_text`: and of a text behind its length.
  unsigned add_record(unsigned block, unsigned code, std::initializer_list<llvm::BitCodeAbbrevOp> numbers,
                      bool with_text) {
    auto record = std::make_shared<llvm::BitCodeAbbrev>();
    record->Add(llvm::BitCodeAbbrevOp(code));
    for (const llvm::BitCodeAbbrevOp& number : numbers) record->Add(number);
    if (with_text) {
      record->Add(any());
      record->Add(llvm::BitCodeAbbrevOp(llvm::BitCodeAbbrevOp::Blob));
    }
    return stream_.EmitBlockInfoAbbrev(block, record);
  }
  void emit(unsigned record, std::initializer_list<uint64_t> numbers, std::string_view text) {
    stream_.EmitRecordWithBlob(record, llvm::ArrayRef(numbers.begin(), numbers.size()), text);
  }
  /// Names a thing when it is first needed.
  template <class Emit>
  static uint64_t id_of(std::map<std::string, uint64_t>& ids, const std::string& name, Emit emit) {
    if (name.empty()) return 0;
    const auto [place, is_new] = ids.emplace(name, ids.size() + 1);
    if (is_new) emit(place->second);
    return place->second;
  }
  void close() {
    if (is_open_) stream_.ExitBlock();
    is_open_ = false;
  }

  llvm::SmallString<1024> buffer_;
  llvm::BitstreamWriter stream_{buffer_};
  unsigned version_ = 0, diagnostic_ = 0, flag_ = 0, file_ = 0;
  std::map<std::string, uint64_t> files_, flags_;
  bool is_open_ = false;
};

}  // namespace

Bytes serialize_diagnostics(std::span<const DiagnosticLine> lines) {
  Writer writer;
  for (const DiagnosticLine& line : lines) writer.add(line);
  return writer.finish();
}

}  // namespace smelt::aot
