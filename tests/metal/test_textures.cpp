// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Textures and samplers in the C++ interface: made, filled, bound, copied, viewed, and misused.
#include "program.hpp"

#include <doctest/doctest.h>

using namespace program;

namespace {

const char* const kTextureKernels = R"(
#include <metal_stdlib>
using namespace metal;
kernel void halve(texture2d<float> from [[texture(0)]], sampler by [[sampler(0)]],
                  texture2d<float, access::write> to [[texture(1)]], uint2 at [[thread_position_in_grid]]) {
  to.write(from.sample(by, (float2(at) + 0.5f) / float2(to.get_width(), to.get_height())), at);
}
kernel void add_one(texture2d<uint, access::read_write> image [[texture(2)]], uint2 at [[thread_position_in_grid]]) {
  image.write(image.read(at) + 1, at);
}
kernel void slice_of(texture2d_array<float, access::read> from [[texture(0)]], device float* to [[buffer(0)]],
                     constant uint& slice [[buffer(1)]], uint at [[thread_position_in_grid]]) {
  to[at] = from.read(uint2(at, 0), slice).x;
}
struct Pictures {
  array<texture2d<float>, 2> from [[id(3)]];
  sampler by [[id(7)]];
  device float* to;
};
kernel void from_table(constant Pictures& all [[buffer(0)]], uint at [[thread_position_in_grid]]) {
  all.to[at] = is_null_texture(all.from[at]) ? -1.0f : all.from[at].sample(all.by, float2(0.5f)).x;
}
)";

NS::SharedPtr<MTL::Texture> texture(MTL::PixelFormat format, NS::UInteger width, NS::UInteger height,
                                    bool mipmapped = false) {
  return NS::TransferPtr(
      device()->newTexture(MTL::TextureDescriptor::texture2DDescriptor(format, width, height, mipmapped)));
}

template <class T>
std::vector<T> texels(MTL::Texture* of, NS::UInteger width, NS::UInteger height, NS::UInteger level = 0) {
  std::vector<T> read(width * height);
  of->getBytes(read.data(), width * sizeof(T), MTL::Region::Make2D(0, 0, width, height), level);
  return read;
}

struct Commands {
  NS::SharedPtr<MTL::CommandQueue> queue = NS::TransferPtr(device()->newCommandQueue());
  MTL::CommandBuffer* buffer = queue->commandBuffer();

  std::string run() {
    buffer->commit();
    buffer->waitUntilCompleted();
    return text(buffer->error());
  }
};

}  // namespace

TEST_CASE("textures and samplers in an argument buffer, set by their numbers") {
  const Pool pool;
  const auto function = NS::TransferPtr(library(kTextureKernels)->newFunction(text("from_table")));
  const auto encoder = NS::TransferPtr(function->newArgumentEncoder(0));
  REQUIRE(encoder);
  CHECK(encoder->encodedLength() == 32);
  const auto from = texture(MTL::PixelFormatR32Float, 2, 1);
  const float values[] = {1, 4};
  from->replaceRegion(MTL::Region::Make2D(0, 0, 2, 1), 0, values, sizeof(values));
  const auto linear = NS::TransferPtr(MTL::SamplerDescriptor::alloc()->init());
  linear->setMinFilter(MTL::SamplerMinMagFilterLinear);
  linear->setMagFilter(MTL::SamplerMinMagFilterLinear);
  const auto by = NS::TransferPtr(device()->newSamplerState(linear.get()));
  const auto out = buffer<float>({0, 0}), memory = NS::TransferPtr(device()->newBuffer(32, 0));
  encoder->setArgumentBuffer(memory.get(), 0);
  const MTL::Texture* both[] = {nullptr, from.get()};
  encoder->setTextures(both, NS::Range::Make(3, 2));
  encoder->setSamplerState(by.get(), 7);
  encoder->setBuffer(out.get(), 0, 8);
  // Misuse leaves the buffer alone.
  encoder->setTexture(from.get(), 7);
  encoder->setSamplerState(by.get(), 3);
  encoder->setTexture(from.get(), 5);
  NS::Error* error = nullptr;
  const auto state = NS::TransferPtr(device()->newComputePipelineState(function.get(), &error));
  REQUIRE_MESSAGE(state, text(error));
  Commands commands;
  MTL::ComputeCommandEncoder* const compute = commands.buffer->computeCommandEncoder();
  compute->setComputePipelineState(state.get());
  compute->setBuffer(memory.get(), 0, 0);
  compute->useResource(from.get(), MTL::ResourceUsageRead);
  compute->useResource(out.get(), MTL::ResourceUsageWrite);
  compute->dispatchThreads(MTL::Size(2, 1, 1), MTL::Size(2, 1, 1));
  compute->endEncoding();
  CHECK(commands.run() == "");
  CHECK(::values<float>(out.get()) == std::vector<float>{-1, 2.5f});
}

TEST_CASE("a texture is filled, sampled by a kernel, and read") {
  const Pool pool;
  const auto halve = pipeline(kTextureKernels, "halve");
  const auto from = texture(MTL::PixelFormatR32Float, 4, 1), to = texture(MTL::PixelFormatR8Unorm, 2, 1);
  CHECK(from->textureType() == MTL::TextureType2D);
  CHECK(from->pixelFormat() == MTL::PixelFormatR32Float);
  CHECK(from->width() == 4);
  CHECK(from->mipmapLevelCount() == 1);
  CHECK(from->allocatedSize() == 16);
  from->setLabel(text("picture"));
  CHECK(text(from->label()) == "picture");
  CHECK(from->device() == device());
  const float values[] = {0, 0.5f, 1, 1};
  from->replaceRegion(MTL::Region::Make2D(0, 0, 4, 1), 0, values, sizeof(values));
  const auto linear = NS::TransferPtr(MTL::SamplerDescriptor::alloc()->init());
  linear->setMinFilter(MTL::SamplerMinMagFilterLinear);
  linear->setMagFilter(MTL::SamplerMinMagFilterLinear);
  const auto by = NS::TransferPtr(device()->newSamplerState(linear.get()));
  Commands commands;
  MTL::ComputeCommandEncoder* const encoder = commands.buffer->computeCommandEncoder();
  encoder->setComputePipelineState(halve.get());
  const MTL::Texture* both[] = {from.get(), to.get()};
  encoder->setTextures(both, NS::Range::Make(0, 2));
  encoder->setSamplerState(by.get(), 0);
  encoder->dispatchThreads(MTL::Size(2, 1, 1), MTL::Size(2, 1, 1));
  encoder->endEncoding();
  CHECK(commands.run() == "");
  CHECK(texels<uint8_t>(to.get(), 2, 1) == std::vector<uint8_t>{64, 255});
}

TEST_CASE("passes that write one texture run one after the other") {
  const Pool pool;
  const auto add = pipeline(kTextureKernels, "add_one");
  const auto image = texture(MTL::PixelFormatR32Uint, 64, 64);
  Commands commands;
  for (int i = 0; i < 20; ++i) {
    MTL::ComputeCommandEncoder* const encoder = commands.buffer->computeCommandEncoder();
    encoder->setComputePipelineState(add.get());
    encoder->setTexture(image.get(), 2);
    encoder->dispatchThreads(MTL::Size(64, 64, 1), MTL::Size(64, 1, 1));
    encoder->endEncoding();
  }
  CHECK(commands.run() == "");
  CHECK(texels<uint32_t>(image.get(), 64, 64) == std::vector<uint32_t>(64 * 64, 20));
}

TEST_CASE("blits: between buffers and textures, parts, levels") {
  const Pool pool;
  const auto bytes = buffer<uint8_t>({9, 0, 100, 10, 10, 9, 50, 50, 10, 14, 9, 9});
  const auto first = texture(MTL::PixelFormatR8Unorm, 4, 2, true),
             second = texture(MTL::PixelFormatR8Unorm, 4, 2, true);
  const auto back = buffer(std::vector<uint8_t>(8, 7));
  CHECK(first->mipmapLevelCount() == 3);
  Commands commands;
  MTL::BlitCommandEncoder* const blit = commands.buffer->blitCommandEncoder();
  blit->copyFromBuffer(bytes.get(), 1, 5, 10, MTL::Size(4, 2, 1), first.get(), 0, 0, MTL::Origin());
  blit->generateMipmaps(first.get());
  blit->copyFromTexture(first.get(), second.get());
  blit->copyFromTexture(first.get(), 0, 0, MTL::Origin(0, 0, 0), MTL::Size(1, 2, 1), second.get(), 0, 0,
                        MTL::Origin(3, 0, 0));
  blit->copyFromTexture(second.get(), 0, 0, MTL::Origin(2, 0, 0), MTL::Size(2, 2, 1), back.get(), 1, 3, 6);
  blit->synchronizeResource(second.get());
  blit->synchronizeTexture(second.get(), 0, 0);
  blit->endEncoding();
  CHECK(commands.run() == "");
  CHECK(texels<uint8_t>(first.get(), 4, 2) == std::vector<uint8_t>{0, 100, 10, 10, 50, 50, 10, 14});
  CHECK(texels<uint8_t>(second.get(), 2, 1, 1) == std::vector<uint8_t>{50, 11});
  CHECK(texels<uint8_t>(second.get(), 4, 2) == std::vector<uint8_t>{0, 100, 10, 0, 50, 50, 10, 50});
  CHECK(values<uint8_t>(back.get()) == std::vector<uint8_t>{7, 10, 0, 7, 10, 50, 7, 7});
}

TEST_CASE("slices, views and textures of buffers") {
  const Pool pool;
  const auto descriptor = NS::TransferPtr(MTL::TextureDescriptor::alloc()->init());
  descriptor->setTextureType(MTL::TextureType2DArray);
  descriptor->setPixelFormat(MTL::PixelFormatR32Float);
  descriptor->setWidth(2);
  descriptor->setArrayLength(3);
  descriptor->setStorageMode(MTL::StorageModeShared);
  const auto array = NS::TransferPtr(device()->newTexture(descriptor.get()));
  const float values_of_slice[] = {1.5f, 2.5f};
  array->replaceRegion(MTL::Region::Make2D(0, 0, 2, 1), 0, 2, values_of_slice, 8, 8);
  const auto slice_of = pipeline(kTextureKernels, "slice_of");
  const auto out = buffer<float>({0, 0, 0, 0});
  const auto part = NS::TransferPtr(array->newTextureView(MTL::PixelFormatR32Float, MTL::TextureType2DArray,
                                                          NS::Range::Make(0, 1), NS::Range::Make(1, 2)));
  CHECK(part->arrayLength() == 2);
  CHECK(part->parentTexture() == array.get());
  CHECK(part->parentRelativeSlice() == 1);
  Commands commands;
  MTL::ComputeCommandEncoder* const encoder = commands.buffer->computeCommandEncoder();
  encoder->setComputePipelineState(slice_of.get());
  const std::pair<MTL::Texture*, uint32_t> runs[] = {{array.get(), 2}, {part.get(), 1}};
  for (int i = 0; i < 2; ++i) {
    encoder->setTexture(runs[i].first, 0);
    encoder->setBuffer(out.get(), 8 * i, 0);
    encoder->setBytes(&runs[i].second, 4, 1);
    encoder->dispatchThreads(MTL::Size(2, 1, 1), MTL::Size(2, 1, 1));
  }
  encoder->endEncoding();
  CHECK(commands.run() == "");
  CHECK(values<float>(out.get()) == std::vector<float>{1.5f, 2.5f, 1.5f, 2.5f});

  const auto bits = NS::TransferPtr(array->newTextureView(MTL::PixelFormatR32Uint));
  uint32_t word = 0;
  bits->getBytes(&word, 4, 4, MTL::Region::Make2D(0, 0, 1, 1), 0, 2);
  CHECK(word == 0x3fc00000);

  const auto memory = buffer<uint32_t>({0, 1, 2, 3, 4, 5, 6, 7});
  const auto of_buffer = NS::TransferPtr(
      memory->newTexture(MTL::TextureDescriptor::texture2DDescriptor(MTL::PixelFormatR32Uint, 2, 2, false), 4, 12));
  CHECK(of_buffer->buffer() == memory.get());
  CHECK(of_buffer->bufferBytesPerRow() == 12);
  CHECK(texels<uint32_t>(of_buffer.get(), 2, 2) == std::vector<uint32_t>{1, 2, 4, 5});
}

TEST_CASE("memory of textures is counted, and given back") {
  const Pool pool;
  const NS::UInteger before = device()->currentAllocatedSize();
  auto one = texture(MTL::PixelFormatRGBA32Float, 8, 8);
  auto view = NS::TransferPtr(one->newTextureView(MTL::PixelFormatRGBA32Uint));
  CHECK(device()->currentAllocatedSize() == before + 1024);
  one.reset();
  CHECK(view->width() == 8);  // the view keeps it
  view.reset();
  CHECK(device()->currentAllocatedSize() == before);
}

TEST_CASE("misuse of textures is told, and does not run") {
  const Pool pool;
  CHECK(device()->newTexture(nullptr) == nullptr);
  CHECK(device()->newTexture(MTL::TextureDescriptor::texture2DDescriptor(MTL::PixelFormatInvalid, 1, 1, false)) ==
        nullptr);
  CHECK(device()->newTexture(MTL::TextureDescriptor::texture2DDescriptor(MTL::PixelFormatR8Unorm, 0, 1, false)) ==
        nullptr);
  const auto mirrored = NS::TransferPtr(MTL::SamplerDescriptor::alloc()->init());
  mirrored->setSAddressMode(MTL::SamplerAddressModeMirrorClampToEdge);
  CHECK(device()->newSamplerState(mirrored.get()) == nullptr);
  const auto image = texture(MTL::PixelFormatR32Uint, 2, 2);
  CHECK(image->newTextureView(MTL::PixelFormatR8Unorm) == nullptr);
  CHECK(image->newTextureView(MTL::PixelFormatR32Uint, MTL::TextureType2D, NS::Range::Make(1, 1),
                              NS::Range::Make(0, 1)) == nullptr);
  uint32_t kept[4] = {1, 2, 3, 4};
  image->getBytes(kept, 8, MTL::Region::Make2D(1, 0, 2, 2), 0);
  image->getBytes(kept, 8, MTL::Region::Make2D(0, 0, 2, 2), 1);
  image->getBytes(kept, 4, MTL::Region::Make2D(0, 0, 2, 2), 0);
  CHECK(kept[0] == 1);

  const auto add = pipeline(kTextureKernels, "add_one");
  const auto dispatch = [&](MTL::Texture* bound, NS::UInteger index) {
    Commands commands;
    MTL::ComputeCommandEncoder* const encoder = commands.buffer->computeCommandEncoder();
    encoder->setComputePipelineState(add.get());
    encoder->setTexture(bound, index);
    encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
    encoder->endEncoding();
    return commands.run();
  };
  CHECK(dispatch(image.get(), 2) == "");
  CHECK(dispatch(nullptr, 2).find("missing texture binding at index 2 for 'image'") != std::string::npos);
  CHECK(dispatch(image.get(), 128).find("index 128 is above 127") != std::string::npos);
  const auto floats = texture(MTL::PixelFormatR32Float, 2, 2);
  CHECK(dispatch(floats.get(), 2).find("has the pixel format r32float") != std::string::npos);
  const auto other = NS::TransferPtr(
      device(1)->newTexture(MTL::TextureDescriptor::texture2DDescriptor(MTL::PixelFormatR32Uint, 2, 2, false)));
  CHECK(dispatch(other.get(), 2).find("is of another device") != std::string::npos);

  const auto short_buffer = buffer<uint8_t>({1, 2, 3});
  Commands commands;
  MTL::BlitCommandEncoder* const blit = commands.buffer->blitCommandEncoder();
  blit->copyFromBuffer(short_buffer.get(), 0, 8, 16, MTL::Size(2, 2, 1), image.get(), 0, 0, MTL::Origin());
  blit->endEncoding();
  CHECK(commands.run().find("sourceBuffer: offset 0 and 16 bytes go past its 3 bytes") != std::string::npos);
}

namespace {

/// BC1: half red and half blue, then half green and half black, each the left two columns and the right two.
constexpr uint8_t kRedBlue[8] = {0x00, 0xf8, 0x1f, 0x00, 0x50, 0x50, 0x50, 0x50};
constexpr uint8_t kGreenBlack[8] = {0xe0, 0x07, 0x00, 0x00, 0x50, 0x50, 0x50, 0x50};

NS::SharedPtr<MTL::Texture> blocks(NS::UInteger width, NS::UInteger height, bool mipmapped = false) {
  return texture(MTL::PixelFormatBC1_RGBA, width, height, mipmapped);
}

/// What a sampler with filter nearest sees, texel by texel, from left to right.
std::vector<uint32_t> sampled(MTL::Texture* of, NS::UInteger width, NS::UInteger height) {
  const auto halve = pipeline(kTextureKernels, "halve");
  const auto to = texture(MTL::PixelFormatRGBA8Unorm, width, height);
  const auto by =
      NS::TransferPtr(device()->newSamplerState(NS::TransferPtr(MTL::SamplerDescriptor::alloc()->init()).get()));
  Commands commands;
  MTL::ComputeCommandEncoder* const encoder = commands.buffer->computeCommandEncoder();
  encoder->setComputePipelineState(halve.get());
  encoder->setTexture(of, 0);
  encoder->setTexture(to.get(), 1);
  encoder->setSamplerState(by.get(), 0);
  encoder->dispatchThreads(MTL::Size(width, height, 1), MTL::Size(width, 1, 1));
  encoder->endEncoding();
  CHECK(commands.run() == "");
  return texels<uint32_t>(to.get(), width, height);
}

constexpr uint32_t kRed = 0xff0000ff, kGreen = 0xff00ff00, kBlue = 0xffff0000, kBlack = 0xff000000;

}  // namespace

TEST_CASE("compressed textures: blocks are written, sampled, read back and copied") {
  const Pool pool;
  CHECK(device()->supportsBCTextureCompression());
  const auto image = blocks(6, 5, true);  // two blocks of two rows, of which parts lie outside; then one
  CHECK(image->pixelFormat() == MTL::PixelFormatBC1_RGBA);
  uint8_t rows[32];
  for (int i = 0; i < 4; ++i) std::memcpy(rows + 8 * i, i % 3 == 0 ? kRedBlue : kGreenBlack, 8);
  image->replaceRegion(MTL::Region::Make2D(0, 0, 6, 5), 0, rows, 16);
  image->replaceRegion(MTL::Region::Make2D(0, 0, 3, 2), 1, kGreenBlack, 8);
  const std::vector<uint32_t> seen = sampled(image.get(), 6, 5);
  CHECK(std::vector(seen.begin(), seen.begin() + 6) == std::vector<uint32_t>{kRed, kRed, kBlue, kBlue, kGreen, kGreen});
  CHECK(std::vector(seen.end() - 6, seen.end()) == std::vector<uint32_t>{kGreen, kGreen, kBlack, kBlack, kRed, kRed});
  uint8_t back[32] = {};
  image->getBytes(back, 16, MTL::Region::Make2D(0, 0, 6, 5), 0);
  CHECK(std::memcmp(back, rows, 32) == 0);
  const auto level = NS::TransferPtr(image->newTextureView(MTL::PixelFormatBC1_RGBA_sRGB, MTL::TextureType2D,
                                                           NS::Range::Make(1, 1), NS::Range::Make(0, 1)));
  REQUIRE(level);
  CHECK(sampled(level.get(), 3, 1) == std::vector<uint32_t>{kGreen, kGreen, kBlack});

  // A blit, of one block each way.
  const auto bytes = buffer(std::vector<uint8_t>(kGreenBlack, kGreenBlack + 8)),
             result = buffer(std::vector<uint8_t>(8, 0));
  const auto other = blocks(8, 4);
  Commands commands;
  MTL::BlitCommandEncoder* const blit = commands.buffer->blitCommandEncoder();
  blit->copyFromBuffer(bytes.get(), 0, 8, 8, MTL::Size(4, 4, 1), other.get(), 0, 0, MTL::Origin(4, 0, 0));
  blit->copyFromTexture(image.get(), 0, 0, MTL::Origin(), MTL::Size(4, 4, 1), other.get(), 0, 0, MTL::Origin());
  blit->copyFromTexture(image.get(), 0, 0, MTL::Origin(4, 4, 0), MTL::Size(2, 1, 1), result.get(), 0, 8, 8);
  blit->endEncoding();
  CHECK(commands.run() == "");
  CHECK(sampled(other.get(), 8, 1) == std::vector<uint32_t>{kRed, kRed, kBlue, kBlue, kGreen, kGreen, kBlack, kBlack});
  CHECK(values<uint8_t>(result.get()) == std::vector<uint8_t>(kRedBlue, kRedBlue + 8));
}

TEST_CASE("misuse of compressed textures is told") {
  const Pool pool;
  const auto make = [](MTL::PixelFormat format) {
    return device()->newTexture(MTL::TextureDescriptor::texture2DDescriptor(format, 8, 8, false));
  };
  CHECK(make(MTL::PixelFormatBC7_RGBAUnorm) == nullptr);
  CHECK(make(MTL::PixelFormatETC2_RGB8) == nullptr);
  CHECK(make(MTL::PixelFormatPVRTC_RGBA_4BPP_sRGB) == nullptr);
  const auto image = blocks(6, 8);
  CHECK(image->newTextureView(MTL::PixelFormatRG32Uint) == nullptr);
  uint8_t kept[32] = {7};
  image->getBytes(kept, 16, MTL::Region::Make2D(2, 0, 4, 4), 0);  // in the middle of a block
  image->getBytes(kept, 16, MTL::Region::Make2D(0, 0, 6, 6), 0);
  image->getBytes(kept, 8, MTL::Region::Make2D(0, 0, 6, 8), 0);  // rows too short
  CHECK(kept[0] == 7);
  const auto bytes = buffer(std::vector<uint8_t>(15, 0));
  const auto blit_of = [&](MTL::Size size) {
    Commands commands;
    MTL::BlitCommandEncoder* const blit = commands.buffer->blitCommandEncoder();
    blit->copyFromBuffer(bytes.get(), 0, 16, 16, size, image.get(), 0, 0, MTL::Origin());
    blit->endEncoding();
    return commands.run();
  };
  CHECK(blit_of(MTL::Size(5, 4, 1)).find("cut blocks of 4 x 4 texels of bc1_rgba") != std::string::npos);
  CHECK(blit_of(MTL::Size(6, 4, 1)).find("offset 0 and 16 bytes go past its 15 bytes") != std::string::npos);
  Commands mipmaps, written;
  MTL::BlitCommandEncoder* const blit = mipmaps.buffer->blitCommandEncoder();
  blit->generateMipmaps(blocks(8, 8, true).get());
  blit->endEncoding();
  CHECK(mipmaps.run().find("mipmaps of the compressed format bc1_rgba") != std::string::npos);
  const auto halve = pipeline(kTextureKernels, "halve");
  MTL::ComputeCommandEncoder* const encoder = written.buffer->computeCommandEncoder();
  encoder->setComputePipelineState(halve.get());
  const MTL::Texture* both[] = {image.get(), image.get()};
  encoder->setTextures(both, NS::Range::Make(0, 2));
  encoder->setSamplerState(
      NS::TransferPtr(device()->newSamplerState(NS::TransferPtr(MTL::SamplerDescriptor::alloc()->init()).get())).get(),
      0);
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  encoder->endEncoding();
  CHECK(written.run().find("has the compressed format bc1_rgba, which kernels read and sample but cannot write") !=
        std::string::npos);
}

TEST_CASE("blocks of a texture in an argument buffer are seen as they are written") {
  const Pool pool;
  const auto function = NS::TransferPtr(library(kTextureKernels)->newFunction(text("from_table")));
  const auto encoder = NS::TransferPtr(function->newArgumentEncoder(0));
  const auto image = blocks(4, 4);
  const auto by =
      NS::TransferPtr(device()->newSamplerState(NS::TransferPtr(MTL::SamplerDescriptor::alloc()->init()).get()));
  const auto out = buffer<float>({0, 0}), memory = NS::TransferPtr(device()->newBuffer(32, 0));
  encoder->setArgumentBuffer(memory.get(), 0);
  const MTL::Texture* both[] = {image.get(), image.get()};
  encoder->setTextures(both, NS::Range::Make(3, 2));
  encoder->setSamplerState(by.get(), 7);
  encoder->setBuffer(out.get(), 0, 8);
  NS::Error* error = nullptr;
  const auto state = NS::TransferPtr(device()->newComputePipelineState(function.get(), &error));
  REQUIRE_MESSAGE(state, text(error));
  const uint8_t all_red[8] = {0x00, 0xf8};
  image->replaceRegion(MTL::Region::Make2D(0, 0, 4, 4), 0, all_red, 8);
  Commands commands;
  MTL::ComputeCommandEncoder* const compute = commands.buffer->computeCommandEncoder();
  compute->setComputePipelineState(state.get());
  compute->setBuffer(memory.get(), 0, 0);
  compute->useResource(image.get(), MTL::ResourceUsageRead);
  compute->useResource(out.get(), MTL::ResourceUsageWrite);
  compute->dispatchThreads(MTL::Size(2, 1, 1), MTL::Size(2, 1, 1));
  compute->endEncoding();
  CHECK(commands.run() == "");
  CHECK(::values<float>(out.get()) == std::vector<float>{1, 1});
}
