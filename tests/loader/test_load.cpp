// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loading, names, what is refused, slice choice (docs/design/loader.md 3.4, 3.7, 5.7).
#include "smelt/base/files.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/writer.hpp"

#include "skips.hpp"
#include "support.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

using namespace smelt;
using namespace smelt::loader;
using namespace smelt::test;

namespace {

/// A metallib slice that nobody looks into.
schema::Slice metal_slice(const schema::Library& library, const char* target, schema::Platform platform,
                          schema::Version os, schema::Version metal, uint16_t family = 0) {
  schema::Slice slice;
  slice.target = target;
  slice.platform = platform;
  slice.os = os;
  slice.metal = metal;
  slice.family = family;
  slice.bytes = to_bytes(as_bytes(std::string("MTLB ") + target + fmt::format(" {}", metal.minor)));
  for (size_t i = 0; i < library.functions.size(); ++i) slice.functions.push_back({false, "", metal, {}});
  return slice;
}

DeviceRef offline(const DeviceProfile& profile) {
  DeviceOptions options;
  options.profile = &profile;
  return must(Device::open(DeviceKind::offline, options));
}

DeviceProfile mac(Version os, Version metal, uint16_t family) {
  DeviceProfile profile;
  profile.name = "a Mac";
  profile.target = {"mac", Platform::macos, os, metal, {}, family};
  return profile;
}

Bytes package_of(schema::Library library) {
  return must(schema::write_package(std::vector{std::move(library)}));
}

}  // namespace

TEST_CASE("names, arguments and constants of a package") {
  const LibraryRef library = must(Library::load(cpu_device(), kernel_package()));
  CHECK(library->name() == "kernels");
  CHECK(library->function_names().size() == 7);
  CHECK(library->function_names()[0] == "saxpy");
  CHECK(library->has_function("halve"));
  CHECK(library->has_reflection());
  const FunctionRef sum = must(library->function("group_sum"));
  REQUIRE(sum->args().size() == 3);
  CHECK(sum->args()[2].kind == ArgumentKind::threadgroup);
  CHECK(sum->args()[2].index == 3);
  CHECK(sum->args()[0].type_name == "uint");
  CHECK(sum->usable());
  const FunctionRef constants = must(library->function("constants"));
  REQUIRE(constants->constants().size() == 3);
  CHECK(constants->constants()[2].name == "scale");
  CHECK(constants->constants()[2].index == 7);
  CHECK_FALSE(constants->constants()[2].required);
}

TEST_CASE("an unknown name is answered with near ones") {
  const LibraryRef library = must(Library::load(cpu_device(), kernel_package()));
  const auto near = library->function("sxapy");
  REQUIRE(code_of(near) == Errc::function_not_found);
  CHECK(contains(near.error().message, "'saxpy'"));
  CHECK(near.error().subject == "sxapy");
  CHECK(contains(message_of(library->function("_Z5saxpyPfS_")), "It has this function as 'saxpy'"));
  CHECK(contains(message_of(library->function("groups")), "'count_groups'"));
  CHECK(code_of(library->function("")) == Errc::function_not_found);
  CHECK(code_of(library->function(std::string(10000, 'x'))) == Errc::function_not_found);
}

TEST_CASE("the same bytes loaded twice share their pipelines") {
  const DeviceRef device = cpu_device();
  const Bytes bytes = kernel_package();
  const LibraryRef first = must(Library::load(device, bytes)), second = must(Library::load(device, bytes));
  CHECK(first->digest() == second->digest());
  const PipelineRef pipeline = must(must(first->function("saxpy"))->pipeline());
  CHECK(must(must(second->function("saxpy"))->pipeline()) == pipeline);
  CHECK(must(must(first->function("count"))->pipeline()) != pipeline);
  CHECK(must(must(must(Library::load(cpu_device(), bytes))->function("saxpy"))->pipeline()) != pipeline);
  CHECK(pipeline.use_count() >= 2);  // the libraries' common scope keeps it too

  // Many threads that ask at once get the same one.
  const LibraryRef third = must(Library::load(device, kernel_package({kernel_spec("halve")})));
  std::vector<PipelineRef> got(8);
  std::vector<std::thread> users;
  for (PipelineRef& slot : got)
    users.emplace_back([&slot, &third] { slot = must(must(third->function("halve"))->pipeline()); });
  for (std::thread& user : users) user.join();
  CHECK(std::count(got.begin(), got.end(), got[0]) == 8);
}

TEST_CASE("prepare builds in parallel, reports and stops") {
  std::vector<KernelSpec> many;
  for (int i = 0; i < 300; ++i) {
    KernelSpec kernel = kernel_spec("count");
    kernel.function.name = fmt::format("count{}", i);
    many.push_back(kernel);
  }
  // One blob many times over: the slice holds it once per kernel.
  schema::Library model;
  model.name = "many";
  schema::CpuSlice slice;
  slice.arch = built_arch();
  slice.level = built_level();
  std::vector<Bytes> code;
  for (const KernelSpec& kernel : many) {
    model.functions.push_back(kernel.function);
    slice.kernels.push_back(kernel.row);
    slice.kernels.back().name = kernel.function.name;
    code.push_back(kernel_code("count"));
  }
  model.slices.push_back(
      cpu_slice_entry(model, must(schema::write_cpu_slice(slice, code)), built_arch(), built_level()));
  const DeviceRef device = cpu_device();
  const Bytes bytes = package_of(model);
  const LibraryRef library = must(Library::load(device, bytes));

  size_t last = 0, calls = 0;
  const auto made = library->prepare({}, [&](size_t done, size_t total) {
    CHECK(total == 300);
    CHECK(done > last);
    last = done;
    ++calls;
    return true;
  });
  CHECK(made.value() == 300);
  CHECK(last == 300);
  CHECK(calls > 1);
  const auto encoder = must(Encoder::create(device));
  for (const std::string_view name : library->function_names()) {
    std::vector<uint32_t> counts(3);
    must(encoder->set_pipeline(must(must(library->function(name))->pipeline())));
    must(encoder->set_memory(0, memory(counts)));
    must(encoder->dispatch_threads({3}));
    CHECK(counts[2] == 1);
  }

  const LibraryRef again = must(Library::load(cpu_device(), bytes));
  CHECK(again->prepare({}, [](size_t, size_t) { return false; }).value() < 300);
  const std::vector<std::string_view> some = {"count7", "count8"};
  CHECK(again->prepare(some).value() == 2);
  const std::vector<std::string_view> wrong = {"count7", "count800"};
  CHECK(code_of(again->prepare(wrong)) == Errc::function_not_found);
  // All kernels, except those that need values only their user has.
  CHECK(must(Library::load(device, kernel_package()))->prepare().value() == 6);
}

TEST_CASE("one flipped bit in code is found before it is executed, and costs only its own kernel") {
  const DeviceRef device = cpu_device();
  const Bytes whole = kernel_package();
  const schema::Package package = must(schema::Package::open(whole));
  const schema::SliceView view = package.slice(package.library(0).slices.first);
  const auto start = size_t(view.part.bytes.data() - whole.data());
  const schema::CpuSlice slice = must(schema::read_cpu_slice(view.part.bytes));
  const schema::CpuKernel& saxpy = slice.kernels[0];
  for (size_t at = 0; at < saxpy.code_bytes; at += 3) {
    Bytes flipped = whole;
    flipped[start + saxpy.code_offset + at] ^= std::byte{0x10};
    const LibraryRef library = must(Library::load(device, flipped));
    const auto pipeline = must(library->function("saxpy"))->pipeline();
    REQUIRE(code_of(pipeline) == Errc::digest_mismatch);
    CHECK(contains(message_of(pipeline), "will not be executed"));
    CHECK(code_of(must(library->function("count"))->pipeline()) == Errc::ok);
    CHECK(code_of(library->prepare()) == Errc::digest_mismatch);
    LoadOptions options;
    options.verify = Verify::digest;
    CHECK(code_of(Library::load(device, flipped, options)) == Errc::digest_mismatch);
    options.verify = Verify::full;
    CHECK(code_of(Library::load(device, flipped, options)) == Errc::digest_mismatch);
  }
}

TEST_CASE("any flipped bit of a package is refused at load, or before the code it is in") {
  const DeviceRef device = cpu_device();
  const Bytes whole = kernel_package({kernel_spec("saxpy")});
  size_t at_load = 0, at_pipeline = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    Bytes flipped = whole;
    flipped[at] ^= std::byte(1u << (at % 8));
    const auto library = Library::load(device, flipped);
    if (!library) {
      ++at_load;
      continue;
    }
    REQUIRE(code_of((*library)->function("saxpy").value()->pipeline()) == Errc::digest_mismatch);
    ++at_pipeline;
  }
  CHECK(at_load + at_pipeline == whole.size());
  CHECK(at_pipeline == kernel_code("saxpy").size());
}

TEST_CASE("a slice that is not the manifest's is refused though it is whole") {
  schema::Library model = kernel_library("kernels", {kernel_spec("saxpy")});
  const Bytes whole = package_of(model);
  const schema::Package package = must(schema::Package::open(whole));
  const schema::SliceView view = package.slice(package.library(0).slices.first);
  // The same kernel with another row: a slice in good order, of the same size, put where the listed one was.
  KernelSpec other = kernel_spec("saxpy");
  other.row.method = "by hanD";
  const Bytes swapped = cpu_slice({other}, built_arch(), built_level());
  REQUIRE(swapped.size() == view.part.bytes.size());
  Bytes forged = whole;
  std::copy(swapped.begin(), swapped.end(), forged.begin() + (view.part.bytes.data() - whole.data()));
  CHECK(code_of(Library::load(cpu_device(), forged)) == Errc::digest_mismatch);
}

TEST_CASE("no prefix of a package loads") {
  const DeviceRef device = cpu_device();
  const Bytes whole = kernel_package({kernel_spec("saxpy")});
  for (size_t n = 0; n < whole.size(); n += 1)
    CHECK_FALSE(Library::load(device, Bytes(whole.begin(), whole.begin() + std::ptrdiff_t(n))));
}

TEST_CASE("code for another processor or of a newer format is refused with its reason") {
  const DeviceRef device = cpu_device();
  const std::vector<KernelSpec> kernels = {kernel_spec("saxpy")};
  const bool x86 = built_arch() == schema::CpuArch::x86_64;
  const auto foreign = x86 ? schema::CpuArch::aarch64 : schema::CpuArch::x86_64;
  schema::Library model = kernel_library("kernels", kernels);
  model.slices = {cpu_slice_entry(model, cpu_slice(kernels, foreign, x86 ? 0 : 3), foreign, x86 ? 0 : 3)};
  const auto refused = Library::load(device, package_of(model));
  CHECK(code_of(refused) == Errc::unsupported_platform);
  CHECK(contains(message_of(refused), "needs"));
  CHECK(contains(message_of(refused), "device has"));
  CHECK(contains(message_of(refused), "smelt compile --cpu"));

  // A slice that lies about itself in the manifest is caught when it is opened.
  model.slices = {cpu_slice_entry(model, cpu_slice(kernels, foreign, x86 ? 0 : 3), built_arch(), built_level())};
  CHECK(code_of(Library::load(device, package_of(model))) == Errc::corrupt);

  Bytes newer = cpu_slice(kernels, built_arch(), built_level());
  newer[4] = newer[6] = std::byte{schema::kCpuSliceFormat + 1};
  model.slices = {cpu_slice_entry(model, newer, built_arch(), built_level())};
  CHECK(code_of(Library::load(device, package_of(model))) == Errc::format_newer);
}

TEST_CASE("code of the first slice format runs") {
  const std::vector<KernelSpec> kernels = {kernel_spec("halve")};
  Bytes slice = cpu_slice(kernels, built_arch(), built_level());
  // The two formats differ in their numbers and in what code may read; this kernel reads nothing of the newer one.
  slice[4] = slice[6] = std::byte{1};
  constexpr size_t kDigestAt = schema::kCpuSliceHeaderBytes - sizeof(Digest);
  Hasher hasher;
  hasher.update(ByteView(slice).first(kDigestAt));
  hasher.update(ByteView(slice).subspan(load_le<uint64_t>(&slice[24]), load_le<uint64_t>(&slice[32])));
  const Digest digest = hasher.finish();
  std::copy(digest.bytes.begin(), digest.bytes.end(), slice.begin() + kDigestAt);

  schema::Library model = kernel_library("kernels", kernels);
  model.slices = {cpu_slice_entry(model, slice, built_arch(), built_level())};
  const DeviceRef device = cpu_device();
  const LibraryRef library = must(Library::load(device, package_of(model)));
  const auto encoder = must(Encoder::create(device));
  std::vector<float> values = {1, 2, 3}, half = {0.5f};
  must(encoder->set_pipeline(must(must(library->function("halve"))->pipeline())));
  must(encoder->set_memory(0, memory(values)));
  must(encoder->set_memory(1, memory(half)));
  must(encoder->dispatch_threads({3}));
  CHECK(values == std::vector<float>{0.5f, 1, 1.5f});
}

TEST_CASE("the best level is taken, a forced one literally") {
  if (built_arch() != schema::CpuArch::x86_64) return;
  const std::vector<KernelSpec> kernels = {kernel_spec("saxpy"), kernel_spec("count")};
  schema::Library model = kernel_library("kernels", kernels);
  // v4 lacks a kernel: that one comes from v3.
  schema::Slice v4 =
      cpu_slice_entry(model, cpu_slice({kernels[0]}, schema::CpuArch::x86_64, 4), schema::CpuArch::x86_64, 4);
  v4.functions[1] = {true, "too hard", {}, {}};
  model.slices.push_back(v4);
  const Bytes package = package_of(model);

  DeviceOptions options;
  options.cpu_level = "x86-64-v3";
  const LibraryRef forced = must(Library::load(must(Device::open(DeviceKind::cpu, options)), package));
  CHECK(forced->target().name == "cpu-x86-64-v3");
  CHECK(forced->slice_report().notes[0].chosen);
  CHECK(forced->slice_report().notes[1].code == Errc::unsupported_family);

  options.cpu_level = "x86-64-v9";
  CHECK(code_of(Device::open(DeviceKind::cpu, options)) == Errc::invalid_argument);
  options.cpu_level = "aarch64";
  CHECK(code_of(Device::open(DeviceKind::cpu, options)) == Errc::invalid_argument);

  ::setenv("SMELT_CPU", "x86-64-v3", 1);
  CHECK(must(Library::load(must(Device::open(DeviceKind::cpu)), package))->target().name == "cpu-x86-64-v3");
  ::unsetenv("SMELT_CPU");

  options.cpu_level = "x86-64-v4";
  const auto device = Device::open(DeviceKind::cpu, options);
  if (!device) {
    smelt::test::skipped("this processor has no x86-64-v4");
    return;
  }
  const LibraryRef best = must(Library::load(must(Device::open(DeviceKind::cpu)), package));
  CHECK(best->target().name == "cpu-x86-64-v4");
  CHECK(best->slice_report().text() == "cpu-x86-64-v3: usable, another fits better\ncpu-x86-64-v4: chosen");
  CHECK(code_of(must(best->function("count"))->pipeline()) == Errc::ok);
  const LibraryRef only_v4 = must(Library::load(*device, package));
  const auto missing = must(only_v4->function("count"))->pipeline();
  CHECK(code_of(missing) == Errc::unsupported);
  CHECK(contains(message_of(missing), "too hard"));
}

TEST_CASE("slices for Apple devices: the rules of 3.7, one line per slice") {
  schema::Library model = kernel_library("kernels", {kernel_spec("saxpy")});
  using schema::Platform;
  const auto add = [&](const char* name, Platform platform, schema::Version os, schema::Version metal,
                       uint16_t family = 0) {
    model.slices.push_back(metal_slice(model, name, platform, os, metal, family));
  };
  add("ios17", Platform::ios, {17, 0, 0}, {3, 1, 0});
  add("macos13", Platform::macos, {13, 0, 0}, {3, 0, 0});
  add("macos14", Platform::macos, {14, 0, 0}, {3, 1, 0});
  add("macos14-apple9", Platform::macos, {14, 0, 0}, {3, 1, 0}, 9);
  add("macos26", Platform::macos, {26, 0, 0}, {4, 0, 0});
  const Bytes package = package_of(model);
  const auto chosen = [&](const DeviceProfile& profile, const LoadOptions& options = {}) {
    const auto library = Library::load(offline(profile), package, options);
    return library ? (*library)->target().name : message_of(library);
  };
  CHECK(chosen(mac({13, 0}, {3, 0}, 7)) == "macos13");
  CHECK(chosen(mac({14, 2}, {3, 1}, 7)) == "macos14");
  CHECK(chosen(mac({14, 2}, {3, 1}, 9)) == "macos14-apple9");
  CHECK(chosen(mac({26, 1}, {4, 0}, 9)) == "macos26");
  CHECK(chosen(mac({26, 1}, {3, 2}, 0)) == "macos14");  // a virtual Mac has no family and an older language

  LoadOptions force;
  force.force_metal = Version{3, 0};
  CHECK(chosen(mac({26, 1}, {4, 0}, 9), force) == "macos13");
  force.force_metal = Version{3, 2};
  const auto none = Library::load(offline(mac({26, 1}, {4, 0}, 9)), package, force);
  CHECK(code_of(none) == Errc::unsupported_language);

  const auto old = Library::load(offline(mac({12, 6}, {2, 4}, 7)), package);
  REQUIRE(code_of(old) == Errc::unsupported_os);
  CHECK(contains(message_of(old), "ios17: needs iOS, device has macOS"));
  CHECK(contains(message_of(old), "macos13: needs macOS 13.0, device has 12.6"));
  CHECK(contains(message_of(old), "macos26: needs macOS 26.0, device has 12.6"));
  CHECK(contains(message_of(old), "cpu"));
  schema::Library newer = kernel_library("kernels", {kernel_spec("saxpy")});
  newer.slices = {metal_slice(newer, "apple9", Platform::macos, {14, 0, 0}, {3, 1, 0}, 9)};
  const auto family = [&](uint16_t has) {
    return message_of(Library::load(offline(mac({14, 2}, {3, 1}, has)), package_of(newer)));
  };
  CHECK(contains(family(7), "apple9: needs GPU family Apple9, device has Apple7"));
  CHECK(contains(family(0), "apple9: needs GPU family Apple9, device has none"));
  CHECK(family(9).empty());

  // Without native code it is as good here; but who asks for signatures asks for the package's, on every device.
  LoadOptions strict;
  strict.native = false;
  CHECK(Library::load(offline(mac({14, 0}, {3, 1}, 7)), package, strict));
  strict.policy = std::make_shared<const signing::Policy>(signing::Policy{signing::Level::signed_only, {}});
  CHECK(code_of(Library::load(offline(mac({14, 0}, {3, 1}, 7)), package, strict)) == Errc::untrusted);

  // The digest breaks ties, so the choice does not depend on the order in the file.
  schema::Library tie = kernel_library("kernels", {kernel_spec("saxpy")});
  tie.slices = {metal_slice(tie, "a", Platform::macos, {14, 0, 0}, {3, 1, 0}),
                metal_slice(tie, "b", Platform::macos, {14, 0, 0}, {3, 1, 0})};
  const DeviceRef device = offline(mac({14, 0}, {3, 1}, 7));
  const std::string one = must(Library::load(device, package_of(tie)))->target().name;
  std::swap(tie.slices[0], tie.slices[1]);
  CHECK(must(Library::load(device, package_of(tie)))->target().name == one);
}

TEST_CASE("one function too new among good ones") {
  schema::Library model = kernel_library("kernels", {kernel_spec("saxpy"), kernel_spec("count")});
  model.slices = {metal_slice(model, "macos14", schema::Platform::macos, {14, 0, 0}, {3, 1, 0})};
  model.slices[0].functions[1].metal = {3, 2, 0};
  const LibraryRef library = must(Library::load(offline(mac({14, 0}, {3, 1}, 7)), package_of(model)));
  CHECK(library->function_names().size() == 2);
  CHECK(must(library->function("saxpy"))->usable());
  CHECK(code_of(must(library->function("count"))->usable()) == Errc::unsupported_language);
  CHECK(code_of(must(library->function("count"))->pipeline()) == Errc::unsupported_language);

  // Offline has pipelines with estimated limits, and no dispatch.
  const PipelineRef pipeline = must(must(library->function("saxpy"))->pipeline());
  CHECK(pipeline->limits_estimated());
  const auto encoder = must(Encoder::create(library->device()));
  must(encoder->set_pipeline(pipeline));
  std::vector<float> x(4);
  const BufferRef buffer = must(library->device()->wrap(memory(x)));
  for (const uint32_t i : {0u, 1u, 2u}) must(encoder->set_buffer(i, buffer));
  CHECK(code_of(encoder->dispatch_threads({4})) == Errc::device_unavailable);
}

TEST_CASE("packages of several libraries are asked by name") {
  const schema::Library a = kernel_library("a", {kernel_spec("saxpy")}),
                        b = kernel_library("b", {kernel_spec("count")});
  schema::Library tagged = a;
  tagged.version = "2.1.0";
  tagged.tags = {"stable"};
  tagged.attachments = {{"kernel.json", to_bytes(as_bytes("{}"))}};
  tagged.slices.push_back(metal_slice(tagged, "macos14", schema::Platform::macos, {14, 0, 0}, {3, 1, 0}));
  const Bytes bytes = must(schema::write_package(std::vector{tagged, b}));
  const DeviceRef device = cpu_device();
  const auto unnamed = Library::load(device, bytes);
  CHECK(code_of(unnamed) == Errc::invalid_argument);
  CHECK(contains(message_of(unnamed), "'a', 'b'"));
  LoadOptions options;
  options.library = "b";
  CHECK(must(Library::load(device, bytes, options))->has_function("count"));
  options.library = "c";
  CHECK(code_of(Library::load(device, bytes, options)) == Errc::invalid_argument);

  const PackageRef package = must(Package::open(copy_of(bytes)));
  CHECK(package->names().size() == 2);
  CHECK(package->version("a") == "2.1.0");
  CHECK(package->tags("a") == std::vector<std::string>{"stable"});
  CHECK(package->attachment_names("a") == std::vector<std::string>{"kernel.json"});
  CHECK(as_text(must(package->attachment("a", "kernel.json"))) == "{}");
  CHECK(as_text(must(package->metallib("a", "macos14"))).starts_with("MTLB"));
  CHECK(contains(message_of(package->metallib("a", "macos15")), "macos14"));
  options.library = "a";
  CHECK(must(Library::load(device, package, options))->has_function("saxpy"));
}

TEST_CASE("files are mapped; the expected digest is held") {
  TemporaryFolder folder;
  const Bytes bytes = kernel_package();
  must(write_file(folder / "k.smelt", bytes));
  const DeviceRef device = cpu_device();
  const LibraryRef library = must(Library::load_file(device, folder / "k.smelt"));
  CHECK(library->has_function("saxpy"));
  LoadOptions options;
  options.expect = library->digest();
  CHECK(code_of(Library::load_file(device, folder / "k.smelt", options)) == Errc::ok);
  options.expect->bytes[0] ^= std::byte{1};
  CHECK(code_of(Library::load_file(device, folder / "k.smelt", options)) == Errc::digest_mismatch);
  CHECK(code_of(Library::load_file(device, folder / "none.smelt")) == Errc::file_not_found);
  must(write_file(folder / "bad.smelt", Bytes(bytes.begin(), bytes.end() - 1)));
  const auto bad = Library::load_file(device, folder / "bad.smelt");
  CHECK(contains(message_of(bad), "bad.smelt: package: "));
  // The library stands on the mapping, not on the name.
  std::filesystem::remove(folder / "k.smelt");
  CHECK(code_of(must(library->function("saxpy"))->pipeline()) == Errc::ok);
}

TEST_CASE("bytes that are no library say what they are") {
  const DeviceRef device = cpu_device();
  const auto load = [&](std::string_view text) { return Library::load(device, as_bytes(text)); };
  for (const std::string_view text : {"", "MT",
                                      "\x7f"
                                      "ELF..",
                                      "#include <metal_stdlib>\n", "{\"a\": 1}"})
    CHECK(code_of(load(text)) == Errc::not_metallib);
  CHECK(contains(message_of(load("version https://git-lfs.github.com/spec/v1\n")), "LFS"));
  CHECK(contains(message_of(load("{}")), "'MTLB', or a package, which starts with 'SMLT'"));
  CHECK(code_of(load("MTLB")) == Errc::truncated);
  CHECK(code_of(load("SMLT")) == Errc::corrupt);
}

TEST_CASE("a metallib on the cpu: how to get code, and its names for those who want no more") {
  const auto folder = shared("data/metallibs");
  if (!folder) {
    smelt::test::skipped("tests/data/metallibs is absent");
    return;
  }
  const DeviceRef device = cpu_device();
  size_t loaded = 0;
  LoadOptions names;
  names.allow_no_code = true;
  for (const auto& file : files_below(*folder, ".metallib")) {
    INFO(file.string());
    const auto refused = Library::load_file(device, file);
    REQUIRE_FALSE(refused);
    if (refused.error().code != Errc::empty_library) {
      CHECK(refused.error().code == Errc::unsupported_platform);
      CHECK(contains(refused.error().message, "smelt compile"));
      CHECK(contains(refused.error().message, file.string()));
    }
    const auto library = Library::load_file(device, file, names);
    if (!library && library.error().code == Errc::empty_library) continue;
    REQUIRE_MESSAGE(library, library.error().message);
    ++loaded;
    for (const std::string_view name : (*library)->function_names()) {
      const FunctionRef function = must((*library)->function(name));
      if (function->kind() != FunctionKind::kernel) {
        CHECK(code_of(function->pipeline()) == Errc::function_kind);
        continue;
      }
      const auto pipeline = function->pipeline();
      CHECK(code_of(pipeline) == Errc::unsupported);
      CHECK(contains(message_of(pipeline), "smelt compile"));
    }
  }
  CHECK(loaded > 10);

  // The container's own list of constants is shown, and the OS floor is checked off the CPU.
  const Bytes constants = must_read(*folder / "constants.14.metallib");
  const LibraryRef library = must(Library::load(device, constants, names));
  const FunctionRef function = must(library->function(library->function_names()[0]));
  CHECK_FALSE(function->constants().empty());
  const Version floor = library->target().min_os;
  CHECK(code_of(Library::load(offline(mac({floor.major, floor.minor}, {4, 0}, 7)), constants)) == Errc::ok);
  CHECK(code_of(Library::load(offline(mac({uint16_t(floor.major - 1), 9}, {4, 0}, 7)), constants)) ==
        Errc::unsupported_os);
  CHECK(code_of(Library::load(offline(mac({26, 0}, {1, 0}, 7)), constants)) == Errc::unsupported_language);
  for (size_t n = 0; n < constants.size(); ++n)  // and so at every boundary of a section
    CHECK_FALSE(Library::load(device, Bytes(constants.begin(), constants.begin() + std::ptrdiff_t(n)), names));
}

TEST_CASE("an empty library is an error unless it is meant") {
  schema::Library model;
  model.name = "nothing";
  const Bytes package = package_of(model);
  CHECK(code_of(Library::load(cpu_device(), package)) == Errc::empty_library);
  CHECK(code_of(Library::load(cpu_device(), must(schema::write_package({})))) == Errc::empty_library);

  metallib::Library empty;
  const Bytes bytes = must(metallib::write(empty));
  CHECK(code_of(Library::load(cpu_device(), bytes)) == Errc::empty_library);
  LoadOptions options;
  options.allow_empty = true;
  CHECK(must(Library::load(cpu_device(), bytes, options))->function_names().empty());
}

TEST_CASE("a function of another kind is no kernel") {
  schema::Library model = kernel_library("kernels", {kernel_spec("saxpy")});
  model.functions[0].kind = schema::FunctionKind::visible;
  const FunctionRef function = must(must(Library::load(cpu_device(), package_of(model)))->function("saxpy"));
  CHECK(code_of(function->usable()) == Errc::function_kind);
  CHECK(code_of(function->pipeline()) == Errc::function_kind);
}

TEST_CASE("code is never writable and executable at once") {
  const LibraryRef library = must(Library::load(cpu_device(), kernel_package()));
  must(library->prepare());
  std::ifstream maps("/proc/self/maps");
  if (!maps) {
    smelt::test::skipped("no /proc/self/maps");
    return;
  }
  size_t lines = 0;
  for (std::string line; std::getline(maps, line); ++lines) CHECK_FALSE(contains(line, " rwx"));
  CHECK(lines > 10);
}

TEST_CASE("whose CPU code runs: the policy, the caller's word, and the environment") {
  const Bytes plain = kernel_package();
  const DeviceRef device = cpu_device();
  const signing::SecretKey key = must(signing::new_key("ours")), other = must(signing::new_key("theirs"));
  const Digest digest = must(schema::Package::open(plain)).digest();
  const std::string signature = signing::to_text(signing::sign(key, as_bytes(schema::package_statement(digest))));
  const Bytes with = must(schema::with_signatures(plain, std::span(&signature, 1)));
  const auto load = [&](const Bytes& package, signing::Level level, std::vector<signing::PublicKey> keys) {
    LoadOptions options;
    options.policy = std::make_shared<const signing::Policy>(signing::Policy{level, std::move(keys)});
    return Library::load(device, package, options);
  };
  const signing::PublicKey ours = signing::public_key(key), theirs = signing::public_key(other);
  CHECK(load(plain, signing::Level::any, {}));
  CHECK(load(plain, signing::Level::local, {}));
  const auto unsigned_one = load(plain, signing::Level::signed_only, {ours});
  REQUIRE(code_of(unsigned_one) == Errc::untrusted);
  CHECK(contains(message_of(unsigned_one), "nobody signed it, trusted are ours"));
  const auto library = must(load(with, signing::Level::signed_only, {theirs, ours}));
  CHECK(code_of(must(library->function("saxpy"))->pipeline()) == Errc::ok);
  CHECK(code_of(load(with, signing::Level::signed_only, {theirs})) == Errc::untrusted);
  CHECK(code_of(load(with, signing::Level::signed_only, {})) == Errc::untrusted);
  // The same name on another key signs nothing.
  signing::PublicKey forged = theirs;
  forged.name = "ours";
  CHECK(code_of(load(with, signing::Level::signed_only, {forged})) == Errc::untrusted);

  // A signature moved to a package with other code under it.
  schema::Library changed = must(must(schema::Package::open(plain)).copy_library(0));
  for (schema::Slice& slice : changed.slices)
    if (slice.kind == schema::SliceKind::cpu) slice.bytes.back() ^= std::byte{1};
  const Bytes swapped =
      must(schema::with_signatures(must(schema::write_package(std::span(&changed, 1))), std::span(&signature, 1)));
  CHECK(code_of(load(swapped, signing::Level::signed_only, {ours})) == Errc::untrusted);

  // A Metal library, which has no place for a signature, is no way round the caller's policy.
  LoadOptions strict;
  CHECK(check_signature(as_bytes("MTLB"), strict));
  strict.policy = std::make_shared<const signing::Policy>(signing::Policy{signing::Level::signed_only, {ours}});
  CHECK(code_of(check_signature(as_bytes("MTLB"), strict)) == Errc::untrusted);
  CHECK(code_of(check_signature(plain, strict)) == Errc::untrusted);
  CHECK(check_signature(with, strict));

  LoadOptions replaced;
  replaced.replaces = "because";
  CHECK(contains(must(Library::load(device, plain, replaced))->slice_report().text(), ": chosen, made here: because"));

  LoadOptions none;
  none.native = false;
  const auto refused = Library::load(device, with, none);
  REQUIRE(code_of(refused) == Errc::untrusted);
  CHECK(contains(message_of(refused), "the caller asks not to use any"));

  ::setenv("SMELT_TRUST", "signed", 1);
  CHECK(code_of(Library::load(device, with)) == Errc::untrusted);
  ::setenv("SMELT_TRUSTED_KEYS", signing::to_text(ours).c_str(), 1);
  CHECK(Library::load(device, with));
  CHECK(code_of(Library::load(device, plain)) == Errc::untrusted);
  ::setenv("SMELT_TRUST", "nobody", 1);
  CHECK(contains(message_of(Library::load(device, with)), "SMELT_TRUST"));
  ::unsetenv("SMELT_TRUST");
  ::unsetenv("SMELT_TRUSTED_KEYS");
}
