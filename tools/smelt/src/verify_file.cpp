// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "verify_file.hpp"

#include "smelt/aot/verify.hpp"
#include "smelt/metallib/layout.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/schema/cpu_slice.hpp"
#include "smelt/schema/package.hpp"

#include <set>

namespace smelt::cli {
namespace {

std::string join(std::string_view outer, std::string_view inner) {
  return fmt::format("{}{}{}", outer, outer.empty() || inner.empty() ? "" : ", ", inner);
}

/// Raw ("BC" C0 DE) or in Apple's wrapper.
bool is_bitcode(ByteView file) {
  if (file.size() < 4) return false;
  const auto magic = load_le<uint32_t>(file.data());
  return magic == metallib::kBitcodeMagic || magic == metallib::kWrapperMagic;
}

class Verifier {
 public:
  void verify_metallib(ByteView file, const std::string& place) { add(aot::verify_metallib(file), place); }

  void verify_module(ByteView file) { add(aot::verify_module(file), ""); }

  void verify_package(ByteView file) {
    const auto package = schema::Package::open(file);
    if (!package) return error("", package.error().message);
    if (package->library_count() == 0) error("", "a package without libraries");
    for (uint32_t l = 0; l < package->library_count(); ++l) {
      const schema::LibraryView library = package->library(l);
      const std::string place = fmt::format("library '{}'", library.name);
      for (uint32_t i = 0; i < library.slices.count; ++i) verify_slice(*package, library, i, place);
      for (uint32_t i = 0; i < library.attachments.count; ++i) {
        const schema::AttachmentView attachment = package->attachment(library.attachments.first + i);
        if (const auto ok = schema::check_part(attachment.part, attachment.name); !ok) error(place, ok.error().message);
      }
    }
  }

  std::vector<VerifyFinding> take() { return std::move(findings_); }

 private:
  void error(std::string place, std::string message) {
    findings_.push_back({.place = std::move(place), .message = std::move(message)});
  }

  void add(std::vector<aot::Finding> findings, const std::string& place) {
    for (aot::Finding& finding : findings)
      findings_.push_back({finding.severity == aot::Finding::Severity::error, join(place, finding.place),
                           std::move(finding.message), std::string(aot::to_string(finding.check))});
  }

  void verify_slice(const schema::Package& package, const schema::LibraryView& library, uint32_t index,
                    const std::string& library_place) {
    const schema::SliceView slice = package.slice(library.slices.first + index);
    const std::string place = join(library_place, fmt::format("slice {}", slice.target));
    if (const auto ok = schema::check_part(slice.part, "slice"); !ok) return error(place, ok.error().message);

    std::set<std::string, std::less<>> held;
    if (slice.kind == schema::SliceKind::metallib) {
      verify_metallib(slice.part.bytes, place);
      const auto read = metallib::read(slice.part.bytes, {.check_hashes = false});
      if (!read) return;  // said already
      for (const metallib::Function& function : read->functions) held.insert(function.name);
    } else {
      const auto read = schema::read_cpu_slice(slice.part.bytes);
      if (!read) return error(place, read.error().message);
      for (const schema::CpuKernel& kernel : read->kernels) {
        held.insert(kernel.name);
        if (sha256(slice.part.bytes.subspan(kernel.code_offset, kernel.code_bytes)) != kernel.code_digest)
          error(join(place, fmt::format("kernel '{}'", kernel.name)), "its code does not have the digest of its row");
      }
    }
    for (uint32_t i = 0; i < library.functions.count; ++i) {
      const std::string_view name = package.function(library.functions.first + i).name;
      const bool missing = package.presence(slice.first_presence + i).missing;
      if (missing == held.contains(name))
        error(place, fmt::format("the manifest says that it {} function '{}', and it {}", missing ? "lacks" : "holds",
                                 name, missing ? "holds it" : "does not"));
    }
  }

  std::vector<VerifyFinding> findings_;
};

}  // namespace

std::vector<VerifyFinding> verify_file(ByteView file) {
  Verifier verifier;
  if (schema::Package::looks_like(file))
    verifier.verify_package(file);
  else if (is_bitcode(file))
    verifier.verify_module(file);
  else
    verifier.verify_metallib(file, "");
  return verifier.take();
}

Bytes write_findings(const std::vector<VerifyFinding>& findings) {
  ByteWriter out;
  for (const VerifyFinding& finding : findings) {
    out.put(static_cast<uint8_t>(finding.is_error));
    for (const std::string* text : {&finding.place, &finding.message, &finding.check}) {
      out.put(uint64_t{text->size()});
      out.put_text(*text);
    }
  }
  return out.take();
}

Result<std::vector<VerifyFinding>> read_findings(ByteView bytes) {
  Cursor in(bytes, "findings");
  std::vector<VerifyFinding> findings;
  while (!in.at_end()) {
    VerifyFinding finding;
    SMELT_TRY(const auto is_error, in.read<uint8_t>());
    finding.is_error = is_error != 0;
    for (std::string* text : {&finding.place, &finding.message, &finding.check}) {
      SMELT_TRY(const auto size, in.read<uint64_t>());
      SMELT_TRY(const ByteView part, in.take(size));
      *text = as_text(part);
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace smelt::cli
