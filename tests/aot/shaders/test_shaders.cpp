// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random shaders through glslang, SPIRV-Cross and our compiler, against the same GLSL drawn by lavapipe.
// SMELT_SHADERS=N takes N vertex shaders, N fragment and a fifth of it compute shaders instead of the few of every day.
// SMELT_SHADERS_FIRST=N begins with another seed; shaders that differ are left in the folder that SMELT_SHADERS_KEEP
// names.
#include "smelt/loader/texture.hpp"

#include "files.hpp"
#include "judge.hpp"
#include "msl.hpp"
#include "skips.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <sstream>

namespace smelt::test {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kEveryDay = 50;
constexpr uint64_t kBatch = 50;
constexpr uint64_t kComputeCost = 5;  ///< as many of the other stages take as long

uint64_t number_of(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Runs a tool; what it said where it failed.
std::string run_tool(const fs::path& folder, const std::string& words) {
  const fs::path log = folder / "log";
  const std::string command = fmt::format("cd '{}' && {} > log 2>&1", folder.string(), words);
  return std::system(command.c_str()) == 0 ? "" : words + ": " + read_text(log);  // NOLINT(cert-env33-c)
}

bool have_tools() {
  return std::system("glslc --version > /dev/null 2>&1") == 0 &&   // NOLINT(cert-env33-c)
         std::system("spirv-cross --help > /dev/null 2>&1") == 0;  // NOLINT(cert-env33-c)
}

struct Drawn {
  uint64_t seed = 0;
  GlslShader shader;
};

struct Translated {
  std::string metal;
  std::vector<uint32_t> spirv;  ///< for the judge
};

std::string file_of(uint64_t seed, GlslStage stage) {
  const char* const suffix = stage == GlslStage::vertex ? "vert" : stage == GlslStage::fragment ? "frag" : "comp";
  return fmt::format("{}.{}", seed, suffix);
}

/// What glslang sets up at its start costs as much as twenty shaders: it gets all of a batch at once.
void translate_to_spirv(const fs::path& folder, std::span<const Drawn> batch, GlslStage stage) {
  std::string names;
  for (const Drawn& one : batch) {
    const std::string name = file_of(one.seed, stage);
    std::ofstream(folder / name) << one.shader.text;
    names += fmt::format(" ../{}", name);
  }
  for (const auto& [side, define] : {std::pair("vulkan", ""), {"metal", "-DMETAL"}}) {
    fs::create_directories(folder / side);
    const std::string said =
        run_tool(folder / side, fmt::format("glslc --target-env=vulkan1.0 {} -c{}", define, names));
    if (!said.empty()) throw std::runtime_error(said);
  }
}

Translated translate(const fs::path& folder, uint64_t seed, GlslStage stage) {
  const std::string name = file_of(seed, stage);
  const std::string said =
      run_tool(folder, fmt::format("spirv-cross metal/{0}.spv --msl --msl-version 20300 --msl-decoration-binding "
                                   "--output {0}.metal",
                                   name));
  if (!said.empty()) throw std::runtime_error(said);
  Translated made{.metal = read_text(folder / (name + ".metal"))};
  const std::string words = read_text(folder / "vulkan" / (name + ".spv"));
  made.spirv.resize(words.size() / 4);
  std::memcpy(made.spirv.data(), words.data(), made.spirv.size() * 4);
  return made;
}

struct Inputs {
  ShaderConstants constants;
  std::vector<ShaderInputs> threads;
  std::vector<std::byte> texels;
};

Inputs random_inputs(uint64_t seed) {
  std::mt19937_64 random(seed ^ 0x5eed);
  const auto real = [&] { return static_cast<float>(static_cast<int>(random() % 4096) - 2048) / 1024; };
  const auto whole = [&] { return static_cast<int32_t>(random() % 1024) - 512; };
  Inputs made;
  for (int i = 0; i < 4; ++i) {
    made.constants.c[i] = real();
    made.constants.k[i] = whole();
  }
  made.threads.resize(kThreads);
  for (ShaderInputs& one : made.threads)
    for (int i = 0; i < 4; ++i) {
      one.a[i] = real();
      one.b[i] = real();
      one.i[i] = whole();
      one.u[i] = static_cast<uint32_t>(random());
    }
  made.texels.resize(size_t{4} * kTexels * kTexels);
  for (std::byte& one : made.texels) one = static_cast<std::byte>(random());
  return made;
}

/// Quads of our side: the thread of a pixel.
uint32_t place_of(GlslStage stage, uint32_t thread) {
  if (stage != GlslStage::fragment) return thread;
  const uint32_t x = thread % kWidth, y = thread / kWidth;
  return 4 * (y / 2 * (kWidth / 2) + x / 2) + (y & 1) * 2 + (x & 1);
}

std::vector<JudgedThread> run_here(GlslStage stage, const GlslShader& shader, const std::string& metal,
                                   const Inputs& inputs, aot::CpuOptions options) {
  const Msl compiled(metal, msl_options(), options);
  const aot::KernelInfo& info = compiled.info("main0");
  Launch launch;
  launch.grid = {kThreads, 1, 1};
  launch.group = {stage == GlslStage::compute ? kGroup : kThreads, 1, 1};
  ShaderConstants constants = inputs.constants;
  launch.buffers[0] = {&constants, sizeof constants};
  std::vector<ShaderInputs> all = inputs.threads;
  std::vector<JudgedThread> results(kThreads);
  for (JudgedThread& one : results)
    for (auto& output : one.output) output.fill(kNotWritten);
  if (stage == GlslStage::compute) launch.bind(1, all).bind(3, results);
  std::map<std::string, std::vector<uint32_t>> arrays;
  for (const aot::ArgumentInfo& array : info.arrays) {
    auto& words = arrays[(array.kind == ArgumentKind::stage_input ? "in." : "out.") + array.name];
    words.resize((uint64_t{array.size} * kThreads + 3) / 4);
    launch.bind(array.location, words);
  }
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    const size_t at = size_t{4} * place_of(stage, thread);
    const ShaderInputs& one = inputs.threads[thread];
    for (const auto& [name, from] :
         {std::pair<std::string, const void*>("in.a", one.a), {"in.b", one.b}, {"in.i", one.i}, {"in.u", one.u}})
      if (const auto found = arrays.find(name); found != arrays.end()) std::memcpy(&found->second[at], from, 16);
  }
  const auto texture = loader::Texture::create({.type = loader::TextureType::d2,
                                                .format = loader::PixelFormat::rgba8unorm,
                                                .width = kTexels,
                                                .height = kTexels});
  REQUIRE(texture);
  std::memcpy((*texture)->contents().data(), inputs.texels.data(), inputs.texels.size());
  const auto sampler = loader::Sampler::create(
      {.address = {loader::SamplerDescriptor::Address::repeat, loader::SamplerDescriptor::Address::repeat,
                   loader::SamplerDescriptor::Address::repeat},
       .magnify = loader::SamplerDescriptor::Filter::linear,
       .minify = loader::SamplerDescriptor::Filter::linear});
  REQUIRE(sampler);
  launch.textures[2] = &(*texture)->cpu();
  launch.samplers[2] = &(*sampler)->cpu();
  compiled.run("main0", launch);
  if (stage == GlslStage::compute) return results;
  const auto discarded = arrays.find("out.discarded");
  // A condition that can never hold leaves no trace.
  if (discarded != arrays.end()) CHECK(shader.discards);
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    const uint32_t place = place_of(stage, thread);
    const bool is_out =
        discarded != arrays.end() && reinterpret_cast<const char*>(discarded->second.data())[place] != 0;
    for (unsigned output = 0; output < 2; ++output) {
      auto& to = results[thread].output[output];
      const auto found = arrays.find(fmt::format("out.r{}", output));
      REQUIRE(found != arrays.end());
      if (!is_out) std::memcpy(to.data(), &found->second[size_t{4} * place], 16);
    }
  }
  return results;
}

/// The first number that is further off than the shader says; empty for none.
std::string difference(const GlslShader& shader, const std::vector<JudgedThread>& ours,
                       const std::vector<JudgedThread>& theirs) {
  for (uint32_t thread = 0; thread < kThreads; ++thread)
    for (unsigned output = 0; output < 2; ++output)
      for (unsigned i = 0; i < 4; ++i) {
        const float a = ours[thread].output[output][i], b = theirs[thread].output[output][i];
        if (!(std::abs(double{a} - double{b}) <= shader.error[output]))
          return fmt::format("thread {}, r{}.{}: {} here, {} there, {} apart; allowed is {}", thread, output, "xyzw"[i],
                             a, b, std::abs(double{a} - double{b}), shader.error[output]);
      }
  return "";
}

void keep(uint64_t seed, GlslStage stage, const fs::path& folder) {
  const char* const to = std::getenv("SMELT_SHADERS_KEEP");
  if (to == nullptr) return;
  fs::create_directories(to);
  const std::string name = file_of(seed, stage);
  for (const std::string& kept : {name, name + ".metal"})
    if (fs::exists(folder / kept))
      fs::copy_file(folder / kept, fs::path(to) / kept, fs::copy_options::overwrite_existing);
}

/// Empty, or what is wrong.
std::string compare_shader(ShaderJudge& judge, const Drawn& drawn, GlslStage stage, const fs::path& folder) try {
  const Translated translated = translate(folder, drawn.seed, stage);
  const Inputs inputs = random_inputs(drawn.seed);
  const auto theirs = judge.run(stage, translated.spirv, inputs.constants, inputs.threads, inputs.texels);
  // Straight code is a loop, all else goes by lanes; now and then by regions.
  aot::CpuOptions options;
  options.level = runnable_levels().front();
  if (drawn.seed % 8 == 0) options.method = aot::CpuMethod::regions;
  return difference(drawn.shader, run_here(stage, drawn.shader, translated.metal, inputs, options), theirs);
} catch (const std::exception& error) {
  return error.what();
}

void compare_stage(GlslStage stage) {
  auto opened = ShaderJudge::open();
  if (!opened) return skipped(opened.error().message);
  if (!have_tools()) return skipped("there are no glslc and spirv-cross");
  const uint64_t first = number_of("SMELT_SHADERS_FIRST", 1);
  uint64_t count = number_of("SMELT_SHADERS", kEveryDay);
  if (stage == GlslStage::compute) count = (count + kComputeCost - 1) / kComputeCost;
  for (uint64_t at = 0; at < count; at += kBatch) {
    const TemporaryFolder folder;
    std::vector<Drawn> batch;
    for (uint64_t seed = first + at; seed < first + std::min(at + kBatch, count); ++seed)
      batch.push_back({seed, random_shader(seed, stage)});
    translate_to_spirv(folder.path(), batch, stage);
    for (const Drawn& drawn : batch) {
      CAPTURE(drawn.seed);
      const std::string said = compare_shader(**opened, drawn, stage, folder.path());
      if (!said.empty()) keep(drawn.seed, stage, folder.path());
      CHECK_MESSAGE(said.empty(), said);
    }
  }
}

}  // namespace

TEST_CASE("random fragment shaders have lavapipe's colours") {
  compare_stage(GlslStage::fragment);
}

TEST_CASE("random vertex shaders have lavapipe's results") {
  compare_stage(GlslStage::vertex);
}

TEST_CASE("random compute shaders have lavapipe's results") {
  compare_stage(GlslStage::compute);
}

}  // namespace smelt::test
