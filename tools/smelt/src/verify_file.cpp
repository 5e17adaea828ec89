// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "verify_file.hpp"

#include "smelt/aot/verify.hpp"
#include "smelt/metallib/inspect.hpp"
#include "smelt/metallib/layout.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/universal.hpp"
#include "smelt/schema/cpu_slice.hpp"
#include "smelt/schema/package.hpp"

#include "library_images.hpp"

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
  void verify_libraries(ByteView file) {
    verify_metallib(file, "");
    const auto images = metallib::find_images(file);
    if (!images) return;  // said already
    for (const metallib::Image& image : *images) {
      const auto read = metallib::read(image.bytes, {.check_hashes = false});
      if (!read) continue;
      const auto facts = metallib::inspect(*read);
      if (!facts) continue;
      targets_.insert(target_name(*facts) + image.where);
      for (const metallib::FunctionFacts& function : facts->functions) count(function.name, function.type == "kernel");
    }
  }

  void verify_module(ByteView file) { add(aot::verify_module(file), ""); }

  void verify_package(ByteView file) {
    const auto package = schema::Package::open(file);
    if (!package) return error("", package.error().message);
    if (package->library_count() == 0) error("", "a package without libraries");
    for (uint32_t l = 0; l < package->library_count(); ++l) {
      const schema::LibraryView library = package->library(l);
      const std::string place = fmt::format("library '{}'", library.name);
      for (uint32_t i = 0; i < library.functions.count; ++i) {
        const schema::FunctionView function = package->function(library.functions.first + i);
        count(fmt::format("{}/{}", l, function.name), function.kind == schema::FunctionKind::kernel);
      }
      for (uint32_t i = 0; i < library.slices.count; ++i) verify_slice(*package, library, i, place);
      for (uint32_t i = 0; i < library.attachments.count; ++i) {
        const schema::AttachmentView attachment = package->attachment(library.attachments.first + i);
        if (const auto ok = schema::check_part(attachment.part, attachment.name); !ok) error(place, ok.error().message);
      }
    }
  }

  VerifyReport take() { return {std::move(findings_), targets_.size(), kernels_.size(), functions_.size()}; }

 private:
  void verify_metallib(ByteView file, const std::string& place) { add(aot::verify_metallib(file), place); }

  void count(std::string name, bool is_kernel) { (is_kernel ? kernels_ : functions_).insert(std::move(name)); }

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
    targets_.emplace(slice.target);
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
  std::set<std::string> targets_, kernels_, functions_;
};

}  // namespace

VerifyReport verify_file(ByteView file) {
  Verifier verifier;
  if (schema::Package::looks_like(file))
    verifier.verify_package(file);
  else if (is_bitcode(file))
    verifier.verify_module(file);
  else
    verifier.verify_libraries(file);
  return verifier.take();
}

std::string content_text(const VerifyReport& report) {
  if (report.targets == 0) return "an AIR module";
  const auto counted = [](uint64_t count, std::string_view word) {
    return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
  };
  std::string text = counted(report.targets, "target");
  if (report.kernels != 0 || report.functions == 0) text += ", " + counted(report.kernels, "kernel");
  if (report.functions != 0) text += ", " + counted(report.functions, report.kernels ? "other function" : "function");
  return text;
}

Bytes write_report(const VerifyReport& report) {
  ByteWriter out;
  for (const uint64_t count : {report.targets, report.kernels, report.functions}) out.put(count);
  for (const VerifyFinding& finding : report.findings) {
    out.put(static_cast<uint8_t>(finding.is_error));
    for (const std::string* text : {&finding.place, &finding.message, &finding.check}) {
      out.put(uint64_t{text->size()});
      out.put_text(*text);
    }
  }
  return out.take();
}

Result<VerifyReport> read_report(ByteView bytes) {
  Cursor in(bytes, "findings");
  VerifyReport report;
  for (uint64_t* count : {&report.targets, &report.kernels, &report.functions}) {
    SMELT_TRY(*count, in.read<uint64_t>());
  }
  while (!in.at_end()) {
    VerifyFinding finding;
    SMELT_TRY(const auto is_error, in.read<uint8_t>());
    finding.is_error = is_error != 0;
    for (std::string* text : {&finding.place, &finding.message, &finding.check}) {
      SMELT_TRY(const auto size, in.read<uint64_t>());
      SMELT_TRY(const ByteView part, in.take(size));
      *text = as_text(part);
    }
    report.findings.push_back(std::move(finding));
  }
  return report;
}

}  // namespace smelt::cli
