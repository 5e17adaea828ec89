// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report as lines for people:
//
//   kernels.26.metallib: metallib, 9248 bytes
//     sha256 ...
//   slice macos26: 9248 bytes, 3 functions, container 1.2.9 (linker), uuid ...
//   kernel vadd: AIR 2.7, Metal 3.2, 4240 bytes, hash ok
//     0  buffer 0       a: float, read
//     constant 0        foo: float
#include "inspect_report.hpp"

#include <iterator>

namespace smelt::cli {
namespace {

/// Names come from the file: nothing in them may move the cursor or colour the terminal.
std::string without_controls(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F)
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    else
      out += c;
  }
  return out;
}

std::string word(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? without_controls(found->get<std::string>()) : std::string();
}

uint64_t number(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

bool flag(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

class Printer {
 public:
  std::string print(const Json& report, const std::string& name) {
    line("{}: {}, {} bytes", without_controls(name), word(report, "kind"), number(report, "bytes"));
    const std::string digest = word(report, report.contains("digest") ? "digest" : "sha256");
    line("  {} {}", report.contains("digest") ? "digest" : "sha256", digest);
    if (report.contains("signatures"))
      for (const Json& signature : report["signatures"])
        line("  signed by {}, not checked here (smelt verify --trusted)", signer(signature));
    if (report.contains("libraries"))
      for (const Json& library : report["libraries"]) print_library(library);
    has_several_libraries_ = report.contains("libraries") && report["libraries"].size() > 1;
    for (const Json& slice : report["slices"]) print_slice(slice);
    for (const Json& function : report["functions"]) print_function(function);
    if (report.contains("findings"))
      for (const Json& finding : report["findings"])
        line("{}: {}{}{}", word(finding, "severity"), word(finding, "place"),
             word(finding, "place").empty() ? "" : ": ", word(finding, "message"));
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  /// Of "NAME:BASE64".
  static std::string signer(const Json& signature) {
    const std::string text = signature.is_string() ? signature.get<std::string>() : std::string();
    return without_controls(text.substr(0, text.find(':')));
  }

  void print_library(const Json& library) {
    const std::string version = word(library, "version");
    line("library {}{}{}: compiler {}", word(library, "name"), version.empty() ? "" : " ", version,
         word(library, "compiler"));
    for (const Json& attachment : library["attachments"])
      line("  attachment {}, {} bytes", word(attachment, "name"), number(attachment, "bytes"));
  }

  void print_slice(const Json& slice) {
    std::string more;
    if (const auto container = slice.find("container"); container != slice.end()) {
      more = fmt::format(", container {} ({} dialect), os {}", word(*container, "version"), word(*container, "dialect"),
                         word(*container, "os"));
      if (const std::string uuid = word(*container, "uuid"); !uuid.empty()) more += ", uuid " + uuid;
    }
    if (slice.contains("hash_matches") && !flag(slice, "hash_matches")) more += ", HASH DIFFERS";
    const std::string library =
        has_several_libraries_ ? fmt::format(" of library {}", word(slice, "library")) : std::string();
    line("slice {}{}: {} bytes, {} function{}{}", word(slice, "target"), library, number(slice, "bytes"),
         slice["functions"].size(), slice["functions"].size() == 1 ? "" : "s", more);
    if (slice.contains("place")) line("  at {}", word(slice, "place"));
    if (slice.contains("code"))
      for (const Json& code : slice["code"]) print_code(code);
    for (const Json& missing : slice["missing"])
      line("  missing {}: {}", word(missing, "name"), word(missing, "reason"));
  }

  void print_code(const Json& code) {
    std::string more;
    if (const auto each = code.find("bytes_per_instruction"); each != code.end())
      more = fmt::format(", {:.1f} for each of {} AIR instructions", each->get<double>(),
                         number(code, "air_instructions"));
    if (const std::string method = word(code, "method"); !method.empty()) more += ", by " + method;
    line("  code {}: {} bytes{}", word(code, "name"), number(code, "bytes"), more);
  }

  void print_function(const Json& function) {
    std::string more;
    if (function.contains("air"))
      more = fmt::format(": AIR {}, Metal {}, {} bytes, hash {}", word(function, "air"), word(function, "metal"),
                         number(function, "module_bytes"), flag(function, "hash_matches") ? "ok" : "DIFFERS");
    line("{} {}{}", word(function, "type"), word(function, "name"), more);
    for (const Json& argument : function["arguments"]) print_argument(argument);
    if (function.contains("results"))
      for (const Json& result : function["results"]) print_result(result);
    for (const Json& constant : function["constants"])
      line("  constant {:<10} {}: {}{}", number(constant, "index"), word(constant, "name"), word(constant, "type_name"),
           flag(constant, "required") ? "" : ", optional");
    if (const uint64_t threads = number(function, "max_threads")) line("  at most {} threads per threadgroup", threads);
    if (const uint64_t bytes = number(function, "threadgroup_bytes")) line("  {} bytes of threadgroup memory", bytes);
    if (function.contains("vertex_attributes"))
      for (const Json& attribute : function["vertex_attributes"])
        line("  attribute {:<9} {}: {}{}", number(attribute, "index"), word(attribute, "name"),
             word(attribute, "type_name"), of_patch(number(attribute, "use")));
    if (function.contains("patch"))
      line("  patch of a {}, {} control points", word(function["patch"], "domain"),
           number(function["patch"], "control_points"));
    if (function.contains("source"))
      line("  from {}:{}", word(function["source"], "path"), number(function["source"], "line"));
    if (function.contains("problem")) line("  problem: {}", word(function, "problem"));
  }

  /// A plain attribute is a vertex's.
  static const char* of_patch(uint64_t use) {
    return use == 1 ? ", of the patch" : use == 2 ? ", of control points" : "";
  }

  void print_argument(const Json& argument) {
    const std::string kind = word(argument, "kind");
    // Hardware values are bound by nobody; what they are is their AIR kind.
    if (kind == "builtin") return line("  {:<2} {}", number(argument, "index"), word(argument, "air_kind"));
    const std::string type = word(argument, "type_name");
    const std::string access = word(argument, "access");
    if (kind == "other" && word(argument, "air_kind").starts_with("air."))
      return line("  {:<2} {:<16} {}{}{}{}{}{}", number(argument, "index"), stage_kind(argument),
                  word(argument, "name"), type.empty() ? "" : ": ", type, with_detail(argument),
                  flag(argument, "unused") ? ", unused" : "", flag(argument, "conditional") ? ", conditional" : "");
    line("  {:<2} {:<16} {}: {}{}{}{}", number(argument, "index"),
         fmt::format("{} {}", kind, number(argument, "location")), word(argument, "name"), type.empty() ? "void" : type,
         access == "none" ? "" : ", " + access, flag(argument, "unused") ? ", unused" : "",
         flag(argument, "conditional") ? ", conditional" : "");
  }

  /// "vertex_input 2", "position", "render_target": what AIR calls it.
  static std::string stage_kind(const Json& value) {
    const std::string kind = word(value, "air_kind").substr(4);
    return kind == "vertex_input" || kind == "patch_input" ? fmt::format("{} {}", kind, number(value, "location"))
                                                           : kind;
  }

  static std::string with_detail(const Json& value) {
    const std::string detail = value.contains("detail") ? word(value, "detail") : std::string();
    return detail.empty() ? "" : ", " + detail;
  }

  void print_result(const Json& result) {
    const std::string kind = word(result, "air_kind");
    const std::string name = word(result, "name");
    line("  -> {:<16} {}{}{}{}{}", kind.starts_with("air.") ? kind.substr(4) : kind, name, name.empty() ? "" : ": ",
         word(result, "type_name"), with_detail(result), flag(result, "conditional") ? ", conditional" : "");
  }

  std::string out_;
  bool has_several_libraries_ = false;  ///< then each slice names its library
};

}  // namespace

std::string report_as_text(const Json& report, const std::string& name) {
  return Printer().print(report, name);
}

}  // namespace smelt::cli
