#include "context.hpp"

#include <cstdio>

namespace smelt::cli {

void Context::finish(const Result<void>& result) {
  if (result) return;
  fmt::print(stderr, "smelt: error: {} ({})\n", result.error().message, to_string(result.error().code));
  exit_code = kCouldNot;
}

void Context::asked_wrongly(std::string_view message) {
  fmt::print(stderr, "smelt: {}\n", message);
  exit_code = kAskedWrongly;
}

void Context::warn(std::string_view message) {
  fmt::print(stderr, "smelt: warning: {}\n", message);
}

}  // namespace smelt::cli
