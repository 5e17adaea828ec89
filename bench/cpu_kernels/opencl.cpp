// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "opencl.hpp"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdexcept>

namespace smelt::bench {
namespace {

const char* const kSource = R"(
__kernel void vadd(__global const float* restrict a, __global const float* restrict b, __global float* restrict c) {
  size_t i = get_global_id(0);
  c[i] = a[i] + b[i];
}
__kernel void square(__global const float* restrict a, __global float* restrict c) {
  size_t i = get_global_id(0);
  c[i] = a[i] * a[i];
}
__kernel void saxpy_half(__global const half* restrict a, __global half* restrict c) {
  size_t i = get_global_id(0);
  vstore_half(2 * vload_half(i, a) + vload_half(i, c), i, c);
}
__kernel void sreduce(__global const float* restrict in, __global float* restrict out) {
  __local float part[256];
  uint l = get_local_id(0);
  part[l] = in[get_global_id(0)];
  for (uint s = get_local_size(0) / 2; s > 0; s /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < s) part[l] += part[l + s];
  }
  if (l == 0) out[get_group_id(0)] = part[0];
}
__kernel void softmax(__global const float* restrict in, __global float* restrict out, uint n) {
  __local float part[256];
  uint l = get_local_id(0), t = get_local_size(0);
  __global const float* x = in + get_group_id(0) * n;
  __global float* y = out + get_group_id(0) * n;
  float m = -INFINITY;
  for (uint i = l; i < n; i += t) m = fmax(m, x[i]);
  part[l] = m;
  for (uint s = t / 2; s > 0; s /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < s) part[l] = fmax(part[l], part[l + s]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  m = part[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0;
  for (uint i = l; i < n; i += t) {
    float e = native_exp(x[i] - m);
    y[i] = e;
    sum += e;
  }
  part[l] = sum;
  for (uint s = t / 2; s > 0; s /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < s) part[l] += part[l + s];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  float inverse = 1.0f / part[0];
  for (uint i = l; i < n; i += t) y[i] *= inverse;
}
__kernel void matmul(__global const float* restrict a, __global const float* restrict b, __global float* restrict c,
                     uint n) {
  __local float ta[16][16], tb[16][16];
  uint x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
  float sum = 0;
  for (uint k = 0; k < n; k += 16) {
    ta[ly][lx] = a[y * n + k + lx];
    tb[ly][lx] = b[(k + ly) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < 16; ++i) sum += ta[ly][i] * tb[i][lx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[y * n + x] = sum;
}
__kernel void rope(__global const float* restrict a, __global float* restrict c, uint n) {
  uint i = get_global_id(0), row = get_global_id(1), first = row * n + i, second = first + n / 2;
  float angle = row * native_exp2(i * -0.02595256268978119f);
  float s = native_sin(angle), k = native_cos(angle);
  c[first] = a[first] * k - a[second] * s;
  c[second] = a[first] * s + a[second] * k;
}
__kernel void hist(__global const uint* restrict a, __global uint* restrict bins) {
  atomic_inc(&bins[a[get_global_id(0)] & 255]);
}
)";

void check(cl_int status, const char* what) {
  if (status != CL_SUCCESS) throw std::runtime_error(std::string("OpenCL: ") + what + ": " + std::to_string(status));
}

class Ready final : public OpenCl::Prepared {
 public:
  Ready(cl_context context, cl_command_queue queue, cl_program program, const OpenCl::Launch& launch)
      : queue_(queue), launch_(launch) {
    cl_int status = 0;
    kernel_ = clCreateKernel(program, launch.kernel.c_str(), &status);
    check(status, launch.kernel.c_str());
    cl_uint index = 0;
    for (const OpenCl::Memory& memory : launch.buffers) {
      buffers_.push_back(
          clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, memory.bytes, memory.data, &status));
      check(status, "buffer");
      check(clSetKernelArg(kernel_, index++, sizeof(cl_mem), &buffers_.back()), "argument");
    }
    if (launch.last) check(clSetKernelArg(kernel_, index, sizeof(unsigned), &*launch.last), "argument");
  }
  ~Ready() override {
    for (cl_mem buffer : buffers_) clReleaseMemObject(buffer);
    clReleaseKernel(kernel_);
  }
  void run() override {
    check(clEnqueueNDRangeKernel(queue_, kernel_, 2, nullptr, launch_.grid.data(), launch_.group.data(), 0, nullptr,
                                 nullptr),
          "launch");
    check(clFinish(queue_), "finish");
  }
  void read_back() override {
    for (size_t i = 0; i < buffers_.size(); ++i)
      check(clEnqueueReadBuffer(queue_, buffers_[i], CL_TRUE, 0, launch_.buffers[i].bytes, launch_.buffers[i].data, 0,
                                nullptr, nullptr),
            "read");
  }

 private:
  cl_command_queue queue_;
  OpenCl::Launch launch_;
  cl_kernel kernel_ = nullptr;
  std::vector<cl_mem> buffers_;
};

class Device final : public OpenCl {
 public:
  Device(cl_device_id device, std::string name) : name_(std::move(name)) {
    cl_int status = 0;
    context_ = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    check(status, "context");
    queue_ = clCreateCommandQueue(context_, device, 0, &status);
    check(status, "queue");
    const char* source = kSource;
    program_ = clCreateProgramWithSource(context_, 1, &source, nullptr, &status);
    check(status, "program");
    check(clBuildProgram(program_, 1, &device, "-cl-fast-relaxed-math", nullptr, nullptr), "build");
  }
  const std::string& name() const override { return name_; }
  std::unique_ptr<Prepared> prepare(const Launch& launch) override {
    return std::make_unique<Ready>(context_, queue_, program_, launch);
  }

 private:
  std::string name_;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
};

}  // namespace

std::unique_ptr<OpenCl> OpenCl::open() {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS) return nullptr;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, nullptr) != CL_SUCCESS) return nullptr;
  char version[256] = "";
  clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof(version) - 1, version, nullptr);
  return std::make_unique<Device>(device, version);
}

}  // namespace smelt::bench
