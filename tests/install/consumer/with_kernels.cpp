// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs saxpy from the package that the build made: a x + s y, where s is this program's argument.
#include "smelt/loader/encoder.hpp"

#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace smelt;

namespace {

Result<bool> run(float sign) {
  SMELT_TRY(const loader::DeviceRef device, loader::Device::open(loader::DeviceKind::cpu));
  SMELT_TRY(const loader::LibraryRef library, loader::Library::load_file(device, KERNELS));
  SMELT_TRY(const loader::FunctionRef function, library->function("saxpy"));
  SMELT_TRY(const loader::PipelineRef pipeline, function->pipeline());
  SMELT_TRY(const std::unique_ptr<loader::Encoder> encoder, loader::Encoder::create(device));
  std::vector<float> x(1000, 3.0f), y(1000, 5.0f);
  const float a = 2;
  const int n = 1000;
  SMELT_TRY_VOID(encoder->set_pipeline(pipeline));
  SMELT_TRY_VOID(encoder->set_memory(0, std::as_writable_bytes(std::span(x))));
  SMELT_TRY_VOID(encoder->set_memory(1, std::as_writable_bytes(std::span(y))));
  SMELT_TRY_VOID(encoder->set_bytes(2, std::as_bytes(std::span(&a, 1))));
  SMELT_TRY_VOID(encoder->set_bytes(3, std::as_bytes(std::span(&n, 1))));
  SMELT_TRY_VOID(encoder->dispatch_threads({1000, 1, 1}));
  for (const float value : y)
    if (value != 6 + sign * 5) return false;
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  const auto right = run(count > 1 ? std::strtof(arguments[1], nullptr) : 1);
  if (!right) std::fprintf(stderr, "%s\n", right.error().message.c_str());
  if (right && !*right) std::fprintf(stderr, "wrong numbers\n");
  return right && *right ? 0 : 1;
}
