// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What `smelt run` says of a vertex or fragment function's inputs and results: arrays with one element a thread.
#pragma once

#include "smelt/loader/encoder.hpp"

#include "run_argument.hpp"

#include <string>

namespace smelt::cli {

struct StageInput {
  std::string name;
  RunArgument argument;
};
struct StageOutput {
  std::string name;
  std::string file;
};

/// NAME=ARG, where ARG is that of a buffer (run_argument.hpp), and NAME=FILE. Errors name the text.
Result<StageInput> parse_stage_input(const std::string& text);
Result<StageOutput> parse_stage_output(const std::string& text);

bool is_stage_array(const loader::ArgInfo& argument);

/// Errors: argument_mismatch for a name that the function does not have, and elements of another type.
Result<void> bind_stage_input(loader::Encoder& encoder, const loader::Function& function, const StageInput& input);
/// Zeros for as many threads.
Result<NpyArray> make_stage_output(const loader::Function& function, const StageOutput& output, uint64_t threads);
/// The array must stay where it is until the launch has ended.
Result<void> bind_stage_output(loader::Encoder& encoder, const loader::Function& function, const StageOutput& output,
                               NpyArray& array);

}  // namespace smelt::cli
