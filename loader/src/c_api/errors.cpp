// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/loader/crash_report.hpp"

#include "handles.hpp"

using namespace smelt;
using namespace smelt::c_api;

// smelt.h is read by C and cannot be made from the list; it is held to it here.
static_assert(int(Errc::ok) == SMELT_OK);
#define SMELT_ERRC(name, c_name, number) static_assert(SMELT_E_##c_name == number);
#include "smelt/base/errc.def"
#undef SMELT_ERRC

namespace {

struct LastError {
  smelt_status code = SMELT_OK;
  std::string message;
  std::string subject;
  std::string detail = "{}";
};
thread_local LastError last_error;

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + "\"";
}

}  // namespace

namespace smelt::c_api {

int32_t remember(const Error& error) noexcept {
  const auto status = static_cast<smelt_status>(error.code);
  try {
    LastError fresh;
    fresh.code = status;
    fresh.message = error.message;
    fresh.subject = error.subject;
    fresh.detail = fmt::format("{{\"code\": {}, \"message\": {}, \"subject\": {}}}", json_text(to_string(error.code)),
                               json_text(error.message), json_text(error.subject));
    last_error = std::move(fresh);
  } catch (...) {
    last_error.code = status;
    last_error.message.clear();
    last_error.subject.clear();
    last_error.detail.clear();
  }
  return status;
}

int32_t remember(Errc code, const char* message) noexcept {
  const auto status = static_cast<smelt_status>(code);
  try {
    last_error = {status,
                  message,
                  {},
                  fmt::format("{{\"code\": {}, \"message\": {}, \"subject\": \"\"}}",
                              json_text(smelt_status_name(status)), json_text(message))};
  } catch (...) {
    last_error.code = status;
  }
  return status;
}

}  // namespace smelt::c_api

smelt_status smelt_last_error(smelt_error_info* info) {
  // A failure here must not replace the error that is being asked for.
  if (info == nullptr || info->struct_size < sizeof(size_t)) return SMELT_E_INVALID_ARGUMENT;
  const smelt_error_info filled{
      info->struct_size,          last_error.code,           last_error.message.c_str(), last_error.message.size(),
      last_error.subject.c_str(), last_error.subject.size(), last_error.detail.c_str(),  last_error.detail.size()};
  std::memcpy(info, &filled, std::min(info->struct_size, sizeof(filled)));
  return SMELT_OK;
}

void smelt_report_crashes(const char* advice) {
  // It lives for ever, as the one that asked first wants it to.
  static const auto& text = *new std::string(advice != nullptr ? advice : "");
  smelt::loader::report_crashes(text);
}

smelt_status smelt_set_last_error(smelt_status code, const char* message, const char* subject) {
  if (code == SMELT_OK || message == nullptr) return SMELT_E_INVALID_ARGUMENT;
  return guard([&]() -> Result<void> {
    return tl::unexpected(Error{static_cast<Errc>(code), printable(message), subject != nullptr ? subject : ""});
  });
}

const char* smelt_status_name(smelt_status status) {
  return to_string(static_cast<Errc>(status)).data();  // enumerators' spellings are literals
}

const char* smelt_version() {
  return SMELT_VERSION;
}
