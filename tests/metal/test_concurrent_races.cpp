// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dispatches of one concurrent encoder that touch the same memory. Of its own ctest test, metal_races: which checks
// code has is read when the device is opened.
#include "program.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string_view>

using namespace program;

namespace {

const bool looks_for_races =
    std::string_view(std::getenv("SMELT_METAL_CHECKED") != nullptr ? std::getenv("SMELT_METAL_CHECKED") : "")
        .find("races") != std::string_view::npos;

constexpr char kSource[] = R"(
#include <metal_stdlib>
using namespace metal;
kernel void fill(device uint* to [[buffer(0)]], uint i [[thread_position_in_grid]]) { to[i] = i; }
kernel void move(device const uint* from [[buffer(0)]], device uint* to [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
  to[i] = from[i];
}
kernel void count(device atomic_uint* at [[buffer(0)]]) { atomic_fetch_add_explicit(at, 1, memory_order_relaxed); }
kernel void every_second(device uchar* to [[buffer(0)]], constant uint& first [[buffer(1)]],
                         uint i [[thread_position_in_grid]]) {
  to[2 * i + first] = first;
}
kernel void turn(device uint* x [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
  uint other = x[63 - i];
  threadgroup_barrier(mem_flags::mem_device);
  x[i] = other;
}
kernel void paint(texture2d<float, access::write> to [[texture(0)]], uint2 at [[thread_position_in_grid]]) {
  to.write(float4(1), at);
}
kernel void look(texture2d<float, access::read> from [[texture(0)]], device float* to [[buffer(0)]],
                 uint2 at [[thread_position_in_grid]]) {
  to[at.y * 4 + at.x] = from.read(at).x;
}
)";

struct Pass {
  Pool pool;
  NS::SharedPtr<MTL::CommandQueue> queue = NS::TransferPtr(device()->newCommandQueue());
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder;

  explicit Pass(MTL::DispatchType type = MTL::DispatchTypeConcurrent)
      : encoder(commands->computeCommandEncoder(type)) {}

  struct At {
    MTL::Buffer* buffer;
    size_t offset = 0;
  };
  void dispatch(const char* kernel, std::initializer_list<At> buffers, uint32_t threads, uint32_t group = 32) {
    encoder->setComputePipelineState(pipeline(kSource, kernel).get());
    NS::UInteger index = 0;
    for (const At& one : buffers) encoder->setBuffer(one.buffer, one.offset, index++);
    encoder->dispatchThreads(MTL::Size(threads, 1, 1), MTL::Size(group, 1, 1));
  }
  void barrier() { encoder->memoryBarrier(MTL::BarrierScopeBuffers); }
  /// What was found; empty: nothing, and all has run.
  std::string finish() {
    encoder->endEncoding();
    commands->commit();
    commands->waitUntilCompleted();
    if (commands->status() == MTL::CommandBufferStatusCompleted) return "";
    CHECK(commands->status() == MTL::CommandBufferStatusError);
    return text(commands->error());
  }
};

NS::SharedPtr<MTL::Buffer> words(size_t count) {
  return buffer<uint32_t>(std::vector<uint32_t>(count, 0));
}

void finds(const std::string& found, std::initializer_list<std::string_view> parts) {
  CAPTURE(found);
  for (const std::string_view part : parts) {
    CAPTURE(part);
    CHECK(found.find(part) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("races of dispatches: a reader and its writer want a barrier between them" *
          doctest::skip(!looks_for_races)) {
  const auto x = words(64), y = words(64);
  SUBCASE("none") {
    Pass pass;
    pass.dispatch("fill", {{x.get()}}, 64);
    pass.dispatch("move", {{x.get()}, {y.get()}}, 64);
    // Which of the two ran first is luck.
    const std::string found = pass.finish();
    finds(found, {"race on buffer 0 '", "an earlier dispatch of kernel '", "a barrier of the encoder between"});
    const bool is_fill_first = found.find("dispatch of kernel 'fill' writes at ") != std::string::npos;
    if (is_fill_first)
      finds(found, {"race on buffer 0 'from'[0]", ":4:93, thread (0, 0, 0) of group (0, 0, 0) reads at ", ":7:11"});
    else
      finds(found, {"race on buffer 0 'to'[0]", "dispatch of kernel 'move' reads at ", "writes at "});
  }
  SUBCASE("one") {
    Pass pass;
    pass.dispatch("fill", {{x.get()}}, 64);
    pass.barrier();
    pass.dispatch("move", {{x.get()}, {y.get()}}, 64);
    CHECK(pass.finish() == "");
  }
  SUBCASE("one that stands elsewhere") {
    Pass pass;
    pass.dispatch("fill", {{y.get()}}, 64);
    pass.barrier();
    pass.dispatch("fill", {{x.get()}}, 64);
    pass.dispatch("move", {{x.get()}, {y.get()}}, 64);
    finds(pass.finish(), {"race on buffer 0 '"});
  }
  SUBCASE("an encoder that orders all") {
    Pass pass(MTL::DispatchTypeSerial);
    pass.dispatch("fill", {{x.get()}}, 64);
    pass.dispatch("move", {{x.get()}, {y.get()}}, 64);
    CHECK(pass.finish() == "");
  }
  SUBCASE("another encoder") {
    Pass pass;
    pass.dispatch("fill", {{x.get()}}, 64);
    pass.encoder->endEncoding();
    pass.encoder = pass.commands->computeCommandEncoder(MTL::DispatchTypeConcurrent);
    pass.dispatch("move", {{x.get()}, {y.get()}}, 64);
    CHECK(pass.finish() == "");
  }
}

TEST_CASE("races of dispatches: two may read, and write apart" * doctest::skip(!looks_for_races)) {
  const auto x = words(128), y = words(64), z = words(64);
  SUBCASE("readers") {
    Pass pass;
    pass.dispatch("move", {{x.get()}, {y.get()}}, 64);
    pass.dispatch("move", {{x.get()}, {z.get()}}, 64);
    CHECK(pass.finish() == "");
  }
  SUBCASE("two writers of one place") {
    Pass pass;
    pass.dispatch("fill", {{x.get()}}, 64);
    pass.dispatch("fill", {{x.get()}}, 64);
    finds(pass.finish(), {"race on buffer 0 'to'[0]", "dispatch of kernel 'fill' writes at ", "writes at "});
  }
  SUBCASE("halves") {
    Pass pass;
    for (const size_t half : {0, 1}) pass.dispatch("fill", {{x.get(), half * 256}}, 64);
    CHECK(pass.finish() == "");
  }
  SUBCASE("halves of which one is too long") {
    Pass pass;
    pass.dispatch("fill", {{x.get()}}, 65);
    pass.dispatch("fill", {{x.get(), 256}}, 64);
    const std::string found = pass.finish();
    CAPTURE(found);
    CHECK((found.find("'to'[0]: ") != std::string::npos || found.find("'to'[64]: ") != std::string::npos));
    CHECK(found.find("1 finding\n") != std::string::npos);
  }
  SUBCASE("neighbouring bytes") {
    Pass pass;
    const uint32_t first[] = {0, 1};
    for (const uint32_t& one : first) {
      pass.encoder->setBytes(&one, sizeof(one), 1);
      pass.dispatch("every_second", {{x.get(), 3}}, 64);
    }
    CHECK(pass.finish() == "");
  }
  SUBCASE("the same bytes, of a buffer that begins inside of a word") {
    Pass pass;
    const uint32_t zero = 0;
    pass.encoder->setBytes(&zero, sizeof(zero), 1);
    pass.dispatch("every_second", {{x.get(), 3}}, 64);
    pass.dispatch("every_second", {{x.get(), 5}}, 64);
    finds(pass.finish(), {"race on buffer 0 'to'["});
  }
  SUBCASE("many, each of its own part") {
    const auto all = words(size_t{200} * 16);
    Pass pass;
    for (size_t i = 0; i < 200; ++i) pass.dispatch("fill", {{all.get(), i * 64}}, 16);
    CHECK(pass.finish() == "");
  }
}

TEST_CASE("races of dispatches: atomics of both are none" * doctest::skip(!looks_for_races)) {
  const auto x = words(1), y = words(1);
  SUBCASE("both") {
    Pass pass;
    pass.dispatch("count", {{x.get()}}, 64);
    pass.dispatch("count", {{x.get()}}, 64);
    CHECK(pass.finish() == "");
    CHECK(values<uint32_t>(x.get())[0] == 128);
  }
  SUBCASE("one") {
    Pass pass;
    pass.dispatch("count", {{x.get()}}, 64);
    pass.dispatch("move", {{x.get()}, {y.get()}}, 1);
    finds(pass.finish(), {"race on buffer 0 '", "changes atomically at ", "reads at "});
  }
}

TEST_CASE("races of dispatches: what a kernel wrote before its barriers counts" * doctest::skip(!looks_for_races)) {
  const auto x = words(64), y = words(64);
  Pass pass;
  pass.dispatch("turn", {{x.get()}}, 64, 64);
  SUBCASE("none reads it") {
    CHECK(pass.finish() == "");
  }
  SUBCASE("one reads it") {
    pass.dispatch("move", {{x.get()}, {y.get()}}, 64);
    finds(pass.finish(), {"race on buffer 0 '", "kernel 'turn'", "kernel 'move'"});
  }
}

TEST_CASE("races of dispatches: textures" * doctest::skip(!looks_for_races)) {
  const Pool pool;
  auto* const wanted = MTL::TextureDescriptor::texture2DDescriptor(MTL::PixelFormatR32Float, 4, 4, false);
  wanted->setUsage(MTL::TextureUsageShaderRead | MTL::TextureUsageShaderWrite);
  const auto texture = NS::TransferPtr(device()->newTexture(wanted));
  const auto out = words(16);
  for (const bool ordered : {false, true}) {
    CAPTURE(ordered);
    Pass pass;
    pass.encoder->setTexture(texture.get(), 0);
    pass.encoder->setComputePipelineState(pipeline(kSource, "paint").get());
    pass.encoder->dispatchThreads(MTL::Size(4, 4, 1), MTL::Size(4, 4, 1));
    if (ordered) pass.encoder->memoryBarrier(MTL::BarrierScopeTextures);
    pass.encoder->setBuffer(out.get(), 0, 0);
    pass.encoder->setComputePipelineState(pipeline(kSource, "look").get());
    pass.encoder->dispatchThreads(MTL::Size(4, 4, 1), MTL::Size(4, 4, 1));
    const std::string found = pass.finish();
    if (ordered)
      CHECK(found == "");
    else
      finds(found, {"race on texture 0 '", "kernel 'paint'", "kernel 'look'"});
  }
}
