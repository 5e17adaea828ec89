/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What metal-cpp does, in C: no Objective-C compiler, only objc_msgSend, sel_registerName and objc_lookUpClass. */
#include "check.h"

#include <objc/message.h>
#include <objc/runtime.h>

typedef struct {
  unsigned long width, height, depth;
} Size;

extern id MTLCreateSystemDefaultDevice(void);

/* A variable, so that GCC does not hold the one declared type against the calls. */
static void* volatile entry = (void*)objc_msgSend;
#define SEND(type, ...) ((id(*) type)entry)(__VA_ARGS__)
#define SEL_(name) sel_registerName(name)
static id send(id to, const char* selector) {
  return SEND((id, SEL), to, SEL_(selector));
}
static id send_one(id to, const char* selector, const void* one) {
  return SEND((id, SEL, const void*), to, SEL_(selector), one);
}
static id string(const char* text) {
  return send_one((id)objc_lookUpClass("NSString"), "stringWithUTF8String:", text);
}

int main(void) {
  const id pool = send(send((id)objc_lookUpClass("NSAutoreleasePool"), "alloc"), "init");
  const id device = MTLCreateSystemDefaultDevice();
  id error = nil;
  const id source = string(
      "kernel void saxpy(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],"
      " constant float& a [[buffer(2)]], uint i [[thread_position_in_grid]]) { y[i] += a * x[i]; }");
  const id library =
      SEND((id, SEL, id, id, id*), device, SEL_("newLibraryWithSource:options:error:"), source, nil, &error);
  CHECK(library != nil && error == nil);
  const id function = send_one(library, "newFunctionWithName:", string("saxpy"));
  const id pipeline =
      SEND((id, SEL, id, id*), device, SEL_("newComputePipelineStateWithFunction:error:"), function, &error);
  CHECK(pipeline != nil);
  id buffers[2];
  float* at[2];
  for (int i = 0; i < 2; ++i) {
    buffers[i] = SEND((id, SEL, unsigned long, unsigned long), device, SEL_("newBufferWithLength:options:"), 40, 0);
    at[i] = (float*)send(buffers[i], "contents");
  }
  for (int i = 0; i < 10; ++i) at[0][i] = (float)i, at[1][i] = 1;
  const id queue = send(device, "newCommandQueue");
  const id commands = send(queue, "commandBuffer");
  const id encoder = send(commands, "computeCommandEncoder");
  const float a = 2;
  send_one(encoder, "setComputePipelineState:", pipeline);
  for (unsigned long i = 0; i < 2; ++i)
    SEND((id, SEL, id, unsigned long, unsigned long), encoder, SEL_("setBuffer:offset:atIndex:"), buffers[i], 0, i);
  SEND((id, SEL, const void*, unsigned long, unsigned long), encoder, SEL_("setBytes:length:atIndex:"), &a, sizeof a,
       2);
  const Size grid = {10, 1, 1};
  SEND((id, SEL, Size, Size), encoder, SEL_("dispatchThreads:threadsPerThreadgroup:"), grid, grid);
  send(encoder, "endEncoding");
  send(commands, "commit");
  send(commands, "waitUntilCompleted");
  int right = 0;
  for (int i = 0; i < 10; ++i) right += at[1][i] == 2 * (float)i + 1;
  CHECK(right == 10);
  CHECK(send(nil, "anything") == nil);
  CHECK(((double (*)(id, SEL))entry)(commands, SEL_("GPUEndTime")) > 0);
  send(pool, "drain");
  return outcome();
}
