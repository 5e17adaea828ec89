// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PoCL as the rival of bench_msl, in a process of its own since it brings another LLVM:
//
//   bench_msl_pocl KERNELS TIMES
//
// Builds a program of KERNELS kernels TIMES times, each with a text that PoCL has not seen, and prints a line for each:
// wall and processor milliseconds of clBuildProgram (which stops at PoCL's IR), and wall milliseconds until the first
// kernel has run (which makes its code). Then, as the last line, the last text again in a new program: PoCL's cache.
//
//   bench_msl_pocl start KERNELS   one process of bench/model_load: the same text always, all kernels made, the first
//                                  one run; prints the monotonic clock at its end, in nanoseconds
//   bench_msl_pocl metal KERNELS   prints the same kernels as Metal source
#define CL_TARGET_OPENCL_VERSION 120
#include "bench.hpp"
#include "msl_sources.hpp"

#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace smelt::bench;

namespace {

void check(cl_int status, const char* what) {
  if (status == CL_SUCCESS) return;
  fmt::print(stderr, "OpenCL: {}: {}\n", what, status);
  std::exit(1);
}

struct Rival {
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;

  Rival() {
    cl_platform_id platform = nullptr;
    cl_int status = 0;
    check(clGetPlatformIDs(1, &platform, nullptr), "platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, nullptr), "device");
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    check(status, "context");
    queue = clCreateCommandQueue(context, device, 0, &status);
    check(status, "queue");
  }

  cl_program build(const std::string& text) const {
    cl_int status = 0;
    const char* source = text.c_str();
    cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
    check(status, "program");
    check(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "build");
    return program;
  }

  static cl_kernel make_kernel(cl_program program, size_t number) {
    cl_int status = 0;
    cl_kernel kernel = clCreateKernel(program, fmt::format("axpy_{}", number).c_str(), &status);
    check(status, "kernel");
    return kernel;
  }

  void call(cl_kernel kernel) const {
    cl_int status = 0;
    std::vector<float> x(64, 1.0f), y(64, 2.0f);
    const auto buffer = [&](std::vector<float>& of) {
      cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, 256, of.data(), &status);
      check(status, "buffer");
      return made;
    };
    cl_mem first = buffer(x), second = buffer(y);
    const float a = 2;
    const cl_uint n = 64;
    check(clSetKernelArg(kernel, 0, sizeof first, &first), "argument");
    check(clSetKernelArg(kernel, 1, sizeof second, &second), "argument");
    check(clSetKernelArg(kernel, 2, sizeof a, &a), "argument");
    check(clSetKernelArg(kernel, 3, sizeof n, &n), "argument");
    const size_t grid = 64;
    check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &grid, nullptr, 0, nullptr, nullptr), "launch");
    check(clFinish(queue), "finish");
    clReleaseMemObject(first);
    clReleaseMemObject(second);
  }

  void measure(const std::string& text) const {
    const double start = now(), start_cpu = cpu_ms();
    cl_program program = build(text);
    const double built = now(), built_cpu = cpu_ms();
    cl_kernel kernel = make_kernel(program, 0);
    call(kernel);
    fmt::print("{} {} {}\n", (built - start) * 1e3, built_cpu - start_cpu, (now() - start) * 1e3);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
  }

  /// Every kernel as an object; the first has run.
  void start(size_t kernels) const {
    cl_program program = build(opencl_source(kernels));
    const cl_kernel first = make_kernel(program, 0);
    for (size_t i = 1; i < kernels; ++i) make_kernel(program, i);
    call(first);
    fmt::print("{}\n", static_cast<int64_t>(now() * 1e9));
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string_view verb = argv[1];
  if (verb == "metal") {
    fmt::print("{}", metal_source(static_cast<size_t>(std::atoi(argv[2]))));
    return 0;
  }
  const Rival rival;
  if (verb == "start") {
    rival.start(static_cast<size_t>(std::atoi(argv[2])));
    return 0;
  }
  const std::string text = opencl_source(static_cast<size_t>(std::atoi(argv[1])));
  std::string seen;
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    seen = fmt::format("// {} {}\n{}", now(), i, text);
    rival.measure(seen);
  }
  rival.measure(seen);
}
