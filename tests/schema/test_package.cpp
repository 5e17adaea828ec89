// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/files.hpp"
#include "smelt/schema/cpu_slice.hpp"
#include "smelt/schema/package.hpp"
#include "smelt/schema/package_layout.hpp"

#include "files.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>

using namespace smelt;
using namespace smelt::schema;

namespace {

Bytes text_bytes(std::string_view text) {
  return to_bytes(as_bytes(text));
}

/// Two blobs that are no real code: a package looks only at the slice's header.
Bytes small_cpu_slice(uint32_t level) {
  CpuSlice slice;
  slice.level = level;
  slice.kernels.resize(2);
  slice.kernels[0].name = "saxpy";
  slice.kernels[1].name = "scale";
  auto bytes = write_cpu_slice(slice, {text_bytes("code of saxpy"), Bytes(100, std::byte{0x90})});
  REQUIRE(bytes);
  return *bytes;
}

Library two_kernels() {
  Library library;
  library.name = "maths";
  library.compiler = "smelt 0.1.0 (LLVM 19.1)";
  library.version = "2.1.0";
  library.tags = {"stable", "fast"};
  library.source = sha256(as_bytes("source"));

  Function saxpy;
  saxpy.name = "saxpy";
  saxpy.arguments.push_back({"x", "float", 0, 0, ArgumentKind::buffer, Access::read, 1, false, false, 1, 4, 4});
  saxpy.arguments.push_back({"y", "float", 1, 1, ArgumentKind::buffer, Access::read_write, 1, false, false, 1, 4, 4});
  saxpy.arguments.push_back({"spare", "", 2, 7, ArgumentKind::buffer, Access::read, 2, true, true, 3, 0, 0});
  saxpy.constants.push_back({"alpha", "float", 4, true});
  saxpy.max_threads = 512;
  saxpy.threadgroup_bytes = 1024;
  saxpy.required_group[0] = 32;
  saxpy.required_group[1] = saxpy.required_group[2] = 1;
  Function scale;
  scale.name = "a name before saxpy";
  scale.kind = FunctionKind::visible;
  library.functions = {saxpy, scale};

  Slice mac;
  mac.target = "macos14";
  mac.platform = Platform::macos;
  mac.os = {14, 0, 0};
  mac.metal = {3, 1, 0};
  mac.air = {2, 6, 0};
  mac.family = 7;
  mac.bytes = text_bytes("MTLB, or so we say");
  mac.functions = {{false, "", {3, 1, 0}, {2, 6, 0}}, {false, "", {3, 0, 0}, {2, 5, 0}}};
  Slice cpu;
  cpu.target = "cpu-x86-64-v3";
  cpu.kind = SliceKind::cpu;
  cpu.arch = uint32_t(CpuArch::x86_64);
  cpu.level = 3;
  cpu.bytes = small_cpu_slice(3);
  cpu.functions = {{false, "", {3, 1, 0}, {2, 6, 0}}, {true, "textures are not on the CPU", {}, {}}};
  library.slices = {mac, cpu};
  library.attachments = {{"kernel.json", text_bytes("{\"warps\": 4}")}};
  return library;
}

Library two_kernels_named(const char* name) {
  Library library = two_kernels();
  library.name = name;
  return library;
}

/// With an argument buffer, whose members make it a package of format 2.
Library with_members() {
  Library library = two_kernels();
  std::vector<Argument>& arguments = library.functions[0].arguments;
  arguments[1].kind = ArgumentKind::indirect_buffer;
  arguments[1].members = {{"out", "float", 0, 2, 0, 8, MemberKind::pointer, Access::read_write},
                          {"scale.factor", "float", 7, 0, 16, 4, MemberKind::constant, Access::none}};
  arguments[2].kind = ArgumentKind::indirect_buffer;
  arguments[2].members = {{"picture", "texture2d<float>", 0, 0, 0, 8, MemberKind::other, Access::none}};
  return library;
}

Bytes written(const std::vector<Library>& libraries) {
  auto bytes = write_package(libraries);
  REQUIRE_MESSAGE(bytes, bytes.error().message);
  return *bytes;
}

Package opened(ByteView bytes) {
  auto package = Package::open(bytes);
  REQUIRE_MESSAGE(package, package.error().message);
  return *package;
}

/// The same values after a round trip. Bytes tell: writing is deterministic and covers every field.
void check_round_trip(const std::vector<Library>& libraries) {
  const Bytes bytes = written(libraries);
  const Package package = opened(bytes);
  std::vector<Library> copies;
  for (uint32_t i = 0; i < package.library_count(); ++i) copies.push_back(package.copy_library(i).value());
  CHECK(written(copies) == bytes);
}

/// Puts right what a change of the manifest or header has broken, as a forger would.
void reseal(Bytes& bytes) {
  PackageHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.manifest_hash = sha256(ByteView(bytes).subspan(header.manifest_offset, header.manifest_size)).bytes;
  std::memcpy(bytes.data(), &header, sizeof(header));
  const Digest digest = sha256(ByteView(bytes).first(offsetof(PackageHeader, digest)));
  std::memcpy(bytes.data() + offsetof(PackageHeader, digest), digest.bytes.data(), digest.bytes.size());
}

}  // namespace

TEST_CASE("what is written is read") {
  const Bytes bytes = written({two_kernels()});
  const Package package = opened(bytes);
  REQUIRE(package.library_count() == 1);
  const LibraryView library = package.library(0);
  CHECK(library.name == "maths");
  CHECK(library.version == "2.1.0");
  CHECK(library.source == sha256(as_bytes("source")));
  CHECK(package.tag(library.tags.first + 1) == "fast");
  REQUIRE(library.functions.count == 2);

  const FunctionView saxpy = package.function(library.functions.first);
  CHECK(saxpy.name == "saxpy");
  CHECK(saxpy.max_threads == 512);
  CHECK(saxpy.required_group[0] == 32);
  const ArgumentView spare = package.argument(saxpy.arguments.first + 2);
  CHECK(spare.name == "spare");
  CHECK(spare.location == 7);
  CHECK(spare.unused);
  CHECK(spare.conditional);
  CHECK(spare.array_size == 3);
  CHECK(package.constant(saxpy.constants.first).type_name == "float");
  CHECK(package.constant(saxpy.constants.first).index == 4);
  CHECK(package.find_function(library, "saxpy").value() == library.functions.first);
  CHECK(package.find_function(library, "a name before saxpy").value() == library.functions.first + 1);
  CHECK_FALSE(package.find_function(library, "sax"));
  CHECK(package.find_library("maths").value() == 0);
  CHECK_FALSE(package.find_library("math"));

  const SliceView mac = package.slice(library.slices.first), cpu = package.slice(library.slices.first + 1);
  CHECK(as_text(mac.part.bytes) == "MTLB, or so we say");
  CHECK(mac.metal == Version{3, 1, 0});
  CHECK(mac.family == 7);
  CHECK(uint64_t(mac.part.bytes.data() - bytes.data()) % kPartAlignment == 0);
  CHECK(cpu.level == 3);
  CHECK(package.presence(cpu.first_presence + 1).missing);
  CHECK(package.presence(cpu.first_presence + 1).reason == "textures are not on the CPU");
  CHECK(as_text(ByteView(cpu.root.bytes)) == as_text(cpu.part.bytes.subspan(kCpuSliceHeaderBytes - 32, 32)));
  CHECK(check_all_parts(package));
  CHECK(as_text(package.attachment(library.attachments.first).part.bytes) == "{\"warps\": 4}");
}

TEST_CASE("writing is deterministic and reading loses nothing") {
  CHECK(written({two_kernels()}) == written({two_kernels()}));
  check_round_trip({two_kernels()});
  check_round_trip({});
  Library empty;
  empty.name = "empty";
  Library second = two_kernels();
  second.name = "second";
  second.functions.clear();
  for (Slice& slice : second.slices) slice.functions.clear();
  check_round_trip({two_kernels(), empty, second});
}

TEST_CASE("equal parts are stored once") {
  Library first = two_kernels();
  first.attachments = {{"weights", Bytes(100000, std::byte{7})}};
  Library again = first;
  again.name = "again";
  const Bytes bytes = written({first, again});
  CHECK(bytes.size() < 2 * 100000);
  const Package package = opened(bytes);
  CHECK(package.slice(package.library(0).slices.first + 1).part.bytes.data() ==
        package.slice(package.library(1).slices.first + 1).part.bytes.data());
}

TEST_CASE("no prefix of a package opens, nor one byte more") {
  const Bytes whole = written({two_kernels()});
  for (size_t n = 0; n < whole.size(); ++n) {
    const Bytes prefix(whole.begin(), whole.begin() + std::ptrdiff_t(n));  // its own buffer each time
    const auto cut = Package::open(prefix);
    REQUIRE_FALSE(cut);
    CHECK(cut.error().code == (n < 8 ? Errc::corrupt : Errc::truncated));
  }
  Bytes longer = whole;
  longer.push_back(std::byte{0});
  const auto package = Package::open(longer);
  REQUIRE_FALSE(package);
  CHECK(package.error().code == Errc::corrupt);
}

TEST_CASE("signatures follow a package without changing it") {
  const Bytes plain = written({two_kernels()});
  const std::vector<std::string> signatures{"ci-2026:QUJD", "other:REVG"};
  const Bytes with = with_signatures(plain, signatures).value();
  const Package package = opened(with);
  CHECK(package.signatures() == signatures);
  CHECK(package.digest() == opened(plain).digest());
  CHECK(to_bytes(package.bytes()) == plain);
  CHECK(opened(plain).signatures().empty());
  // Signed again, or not at all: what was there before goes.
  CHECK(with_signatures(with, std::span(signatures).first(1)).value() ==
        with_signatures(plain, std::span(signatures).first(1)).value());
  CHECK(with_signatures(with, {}).value() == plain);
  CHECK(package_statement(package.digest()).find(to_hex(package.digest())) != std::string::npos);

  // Cut anywhere it is refused, but for the one place where the package ends and is whole without them.
  for (size_t n = 0; n < with.size(); ++n) {
    const Bytes prefix(with.begin(), with.begin() + std::ptrdiff_t(n));
    CHECK(Package::open(prefix).has_value() == (n == plain.size()));
  }
  for (size_t at = plain.size(); at < plain.size() + 8; ++at) {
    Bytes changed = with;
    changed[at] ^= std::byte{1};
    CHECK_FALSE(Package::open(changed));
  }
  for (const std::string& text : {std::string("no colon"), std::string("two:w ords"), std::string(300, ':')})
    CHECK_FALSE(with_signatures(plain, std::span(&text, 1)));
  const std::vector<std::string> many(100, "ci:" + std::string(88, 'A'));
  CHECK_FALSE(with_signatures(plain, many));
}

TEST_CASE("signatures have a length, and all of them together have one") {
  const Bytes plain = written({two_kernels()});
  const auto signs = [&](const std::vector<std::string>& lines) { return with_signatures(plain, lines).has_value(); };
  CHECK(signs({"n:" + std::string(254, 'A')}));
  CHECK_FALSE(signs({"n:" + std::string(255, 'A')}));
  CHECK_FALSE(signs({"n: A"}));
  CHECK(signs({"n:!~"}));
  CHECK_FALSE(signs({"n:\x7f"}));
  // A header of 8 bytes, and lines of 128 with their end: 64 of them are 8 bytes too many.
  std::vector<std::string> lines(63, "n:" + std::string(125, 'A'));
  lines.push_back("n:" + std::string(117, 'A'));
  CHECK(opened(with_signatures(plain, lines).value()).signatures() == lines);
  lines.back() += 'A';
  CHECK_FALSE(signs(lines));
}

TEST_CASE("names out of their order, or twice, are refused wherever they stand") {
  // by_name is a permutation in name order; row k of a library holds the k-th.
  Library library = two_kernels();
  library.slices.clear();
  library.functions.resize(3);
  const char* const names[] = {"a", "b", "c"};
  for (size_t i = 0; i < 3; ++i) library.functions[i] = Function{}, library.functions[i].name = names[i];
  const Bytes whole = written({library});
  const size_t first = sizeof(PackageHeader) + sizeof(ManifestHeader) + sizeof(LibraryRow) + 2 * sizeof(TagRow) +
                       offsetof(FunctionRow, by_name);
  const auto said = [&](const std::array<uint32_t, 3>& order) {
    Bytes bytes = whole;
    for (size_t k = 0; k < 3; ++k) store_le<uint32_t>(&bytes[first + k * sizeof(FunctionRow)], order[k]);
    reseal(bytes);
    const auto package = Package::open(bytes);
    return package ? std::string() : package.error().message;
  };
  CHECK(said({0, 1, 2}).empty());
  CHECK(said({1, 0, 2}).find("'b' and 'a' are not in order") != std::string::npos);
  CHECK(said({0, 2, 1}).find("'c' and 'b' are not in order") != std::string::npos);
  CHECK(said({0, 0, 2}).find("'a' and 'a' are not in order") != std::string::npos);
  CHECK(said({0, 1, 3}).find("function 2 in name order is 3 of 3") != std::string::npos);
}

TEST_CASE("text that is no UTF-8 is refused, and what only tells is written as text") {
  for (const char* const name : {"maths", "stable", "saxpy", "alpha", "macos14", "smelt 0.1.0 (LLVM 19.1)"}) {
    Bytes forged = written({two_kernels()});
    const size_t at = as_text(forged).find(name);
    REQUIRE(at != std::string_view::npos);
    forged[at] = std::byte{0xFF};
    reseal(forged);
    const auto package = Package::open(forged);
    REQUIRE_FALSE(package);
    CHECK(package.error().code == Errc::corrupt);
    CHECK(package.error().message.find("is not UTF-8") != std::string::npos);
  }
  Library library = two_kernels();
  library.functions[0].arguments[0].name = "\xFF";
  library.functions[0].arguments[1].type_name = std::string("a\0b", 3);
  const Bytes bytes = written({library});
  CHECK(opened(bytes).copy_library(0)->functions[0].arguments[0].name == "\\xff");
  library.name = "\xFF";
  CHECK_FALSE(write_package(std::span(&library, 1)));
}

TEST_CASE("kinds and flags of rows are read up to the last that there is") {
  const Bytes whole = written({two_kernels()});
  const size_t functions = sizeof(PackageHeader) + sizeof(ManifestHeader) + sizeof(LibraryRow) + 2 * sizeof(TagRow);
  const size_t argument = functions + 2 * sizeof(FunctionRow), constant = argument + 3 * sizeof(ArgumentRow);
  const size_t slice = constant + sizeof(ConstantRow), presence = slice + 2 * sizeof(SliceRow);
  const auto opens = [&](size_t at, uint8_t value) {
    Bytes bytes = whole;
    bytes[at] = std::byte{value};
    reseal(bytes);
    return Package::open(bytes).has_value();
  };
  const auto ends = [&](size_t at, auto last) {
    return opens(at, static_cast<uint8_t>(last)) && !opens(at, static_cast<uint8_t>(static_cast<uint8_t>(last) + 1));
  };
  CHECK(ends(functions + offsetof(FunctionRow, kind), FunctionKind::object));
  CHECK(ends(argument + offsetof(ArgumentRow, kind), ArgumentKind::other));
  CHECK(ends(argument + offsetof(ArgumentRow, access), Access::sample));
  CHECK(ends(argument + offsetof(ArgumentRow, flags), 3));
  CHECK(ends(constant + offsetof(ConstantRow, required), 1));
  CHECK(ends(slice + offsetof(SliceRow, platform), Platform::visionos));
  CHECK(ends(slice + offsetof(SliceRow, checked), 1));
  CHECK(ends(slice + offsetof(SliceRow, zero), 0));
  CHECK(ends(slice + offsetof(SliceRow, zero_end), 0));
  CHECK(ends(presence + offsetof(PresenceRow, missing), 1));
  CHECK(opens(slice + offsetof(SliceRow, kind), static_cast<uint8_t>(SliceKind::metallib)));
  CHECK_FALSE(opens(slice + offsetof(SliceRow, kind), 77));
}

TEST_CASE("one flipped bit anywhere is found, at the latest when its part is hashed") {
  const Bytes whole = written({two_kernels()});
  size_t at_open = 0, at_part = 0;
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    Bytes flipped = whole;
    flipped[bit / 8] ^= std::byte(1u << (bit % 8));
    const auto package = Package::open(flipped);
    if (!package) {
      ++at_open;
    } else {
      REQUIRE_FALSE(check_all_parts(*package));
      ++at_part;
    }
  }
  CHECK(at_open > 8 * sizeof(PackageHeader));
  CHECK(at_part > 0);
}

TEST_CASE("a newer format is told apart from damage") {
  Bytes bytes = written({two_kernels()});
  bytes[4] = std::byte{9};  // format 9,
  bytes[6] = std::byte{9};  // that only format 9 reads
  reseal(bytes);
  const auto newer = Package::open(bytes);
  REQUIRE_FALSE(newer);
  CHECK(newer.error().code == Errc::format_newer);
  CHECK(newer.error().message.find("format 9") != std::string::npos);
  // Shortened: still newer, not corrupt, since nothing else of it is known.
  CHECK(Package::open(Bytes(bytes.begin(), bytes.begin() + 40)).error().code == Errc::format_newer);

  bytes[6] = std::byte{1};  // format 9 that still suits readers of format 1
  reseal(bytes);
  const Package package = opened(bytes);
  CHECK(package.format() == 9);
  CHECK(package.library(0).name == "maths");

  bytes[4] = std::byte{0};
  bytes[6] = std::byte{0};
  reseal(bytes);
  CHECK(Package::open(bytes).error().code == Errc::corrupt);
}

TEST_CASE("a forged manifest is refused or harmless, whatever byte is changed") {
  // Every byte of header and manifest, set to three other values and sealed again: what opens must be readable.
  const Bytes whole = written({two_kernels()});
  PackageHeader header;
  std::memcpy(&header, whole.data(), sizeof(header));
  const size_t end = header.manifest_offset + header.manifest_size;
  size_t refused = 0;
  for (size_t at = 4; at < end; ++at) {
    if (at >= offsetof(PackageHeader, manifest_hash) && at < sizeof(PackageHeader)) continue;
    for (const unsigned change : {1u, 0x80u, 0xffu}) {
      Bytes forged = whole;
      forged[at] ^= std::byte(change);
      if (at >= sizeof(PackageHeader))
        reseal(forged);
      else {
        const Digest digest = sha256(ByteView(forged).first(offsetof(PackageHeader, digest)));
        std::memcpy(forged.data() + offsetof(PackageHeader, digest), digest.bytes.data(), digest.bytes.size());
      }
      const auto package = Package::open(forged);
      if (!package) {
        ++refused;
        continue;
      }
      for (uint32_t i = 0; i < package->library_count(); ++i) (void)package->copy_library(i);
    }
  }
  CHECK(refused > end);
}

TEST_CASE("a model that contradicts itself is not written") {
  const auto code = [](const std::vector<Library>& libraries) { return write_package(libraries).error().code; };
  Library library = two_kernels();
  CHECK(code({library, library}) == Errc::invalid_argument);
  library.functions[1].name = "saxpy";
  CHECK(code({library}) == Errc::invalid_argument);
  library = two_kernels();
  library.name.clear();
  CHECK(code({library}) == Errc::invalid_argument);
  library = two_kernels();
  library.slices[0].functions.pop_back();
  CHECK(code({library}) == Errc::invalid_argument);
  library = two_kernels();
  library.slices[0].bytes.clear();
  CHECK(code({library}) == Errc::invalid_argument);
  library = two_kernels();
  library.slices[1].bytes = text_bytes("no CPU slice");
  CHECK(code({library}) == Errc::invalid_argument);
  library = two_kernels();
  library.slices[1].bytes = text_bytes(std::string(300, 'x'));  // long enough for one, which it is not
  CHECK(code({library}) == Errc::invalid_argument);
  library = two_kernels();
  library.slices[1].bytes.resize(kCpuSliceHeaderBytes - 1);
  CHECK(code({library}) == Errc::invalid_argument);
  library = two_kernels();
  library.functions[0].constants[0].type_name.clear();
  CHECK(code({library}) == Errc::invalid_argument);
}

TEST_CASE("packing joins slices of one library and keeps others apart") {
  Library mac_only = two_kernels(), cpu_only = two_kernels(), other = two_kernels();
  mac_only.slices.pop_back();
  cpu_only.slices.erase(cpu_only.slices.begin());
  cpu_only.tags = {"stable", "cpu"};
  other.name = "other";
  const Bytes a = written({mac_only}), b = written({cpu_only, other});
  const auto merged = merge_packages(std::vector{opened(a), opened(b)});
  REQUIRE_MESSAGE(merged, merged.error().message);
  REQUIRE(merged->size() == 2);
  const Library& maths = (*merged)[0];
  CHECK(maths.slices.size() == 2);
  CHECK(maths.slices[0].target == "macos14");
  CHECK(maths.attachments.size() == 1);
  CHECK(maths.tags == std::vector<std::string>{"stable", "fast", "cpu"});
  CHECK((*merged)[1].name == "other");
  // The same twice is no conflict.
  CHECK(written(merge_packages(std::vector{opened(a), opened(a)}).value()) == a);
}

TEST_CASE("packing says what two libraries of one name disagree in") {
  const Bytes a = written({two_kernels()});
  const auto conflict = [&](const Library& library) {
    const Bytes b = written({library});
    const auto merged = merge_packages(std::vector{opened(a), opened(b)});
    REQUIRE_FALSE(merged);
    CHECK(merged.error().code == Errc::invalid_argument);
    CHECK(merged.error().message.find("'maths' comes twice") != std::string::npos);
    return merged.error().message;
  };
  Library library = two_kernels();
  library.source = sha256(as_bytes("another source"));
  CHECK(conflict(library).find("two sources") != std::string::npos);
  library = two_kernels();
  library.compiler = "smelt 0.2.0";
  CHECK(conflict(library).find("two compilers") != std::string::npos);
  library = two_kernels();
  library.functions[0].max_threads = 64;
  CHECK(conflict(library).find("functions that differ") != std::string::npos);
  library = two_kernels();
  library.slices[1].bytes = small_cpu_slice(4);
  CHECK(conflict(library).find("cpu-x86-64-v3") != std::string::npos);
  library = two_kernels();
  library.attachments[0].bytes = text_bytes("{}");
  CHECK(conflict(library).find("kernel.json") != std::string::npos);
}

TEST_CASE("a damaged part is not copied into another package") {
  Bytes bytes = written({two_kernels()});
  bytes.back() ^= std::byte{1};
  const auto copy = opened(bytes).copy_library(0);
  REQUIRE_FALSE(copy);
  CHECK(copy.error().code == Errc::digest_mismatch);
}

TEST_CASE("members of argument buffers: format 2, and only where there are some") {
  CHECK(opened(written({two_kernels()})).format() == 1);
  Library second = with_members();
  second.name = "second";
  const Bytes bytes = written({with_members(), two_kernels_named("plain"), second});
  const Package package = opened(bytes);
  CHECK(package.format() == 2);
  for (const uint32_t library : {0, 2}) {
    const Range arguments = package.function(package.library(library).functions.first).arguments;
    CHECK(package.argument(arguments.first).members.empty());
    const auto members = package.argument(arguments.first + 1).members;
    REQUIRE(members.size() == 2);
    CHECK(members[1] == MemberView{"scale.factor", "float", 7, 0, 16, 4, MemberKind::constant, Access::none});
    CHECK(package.argument(arguments.first + 2).members.front().type_name == "texture2d<float>");
  }
  check_round_trip({with_members(), two_kernels_named("plain"), second});
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Bytes prefix(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_FALSE(Package::open(prefix));
  }
}

TEST_CASE("arrays of a vertex or fragment function: format 3, and only where there are some") {
  Library stage = two_kernels();
  Function& function = stage.functions.front();
  function.kind = FunctionKind::vertex;
  REQUIRE(function.arguments.size() >= 2);
  function.arguments[0].kind = ArgumentKind::stage_input;
  function.arguments[0].location = 30;
  function.arguments[1].kind = ArgumentKind::stage_output;
  const Bytes bytes = written({stage});
  CHECK(opened(bytes).format() == 3);
  check_round_trip({stage});
  const size_t functions = sizeof(PackageHeader) + sizeof(ManifestHeader) + sizeof(LibraryRow) + 2 * sizeof(TagRow);
  const size_t kind = functions + 2 * sizeof(FunctionRow) + offsetof(ArgumentRow, kind);
  const auto opens = [&](uint8_t value, uint16_t format) {
    Bytes changed = bytes;
    changed[kind] = std::byte{value};
    store_le<uint16_t>(&changed[offsetof(PackageHeader, format)], format);
    store_le<uint16_t>(&changed[offsetof(PackageHeader, oldest)], format);
    reseal(changed);
    return Package::open(changed).has_value();
  };
  CHECK(opens(9, 3));
  CHECK(opens(10, 3));
  CHECK_FALSE(opens(8, 3));  // a built-in is never listed
  CHECK_FALSE(opens(11, 3));
  CHECK_FALSE(opens(9, 2));
}

TEST_CASE("dimensions of a kernel's position: format 4, and only where there are several") {
  Library library = two_kernels();
  library.functions.front().max_threads = 512;
  CHECK(opened(written({library})).format() < 4);
  library.functions.front().grid_rank = 2;
  const Bytes bytes = written({library});
  const Package package = opened(bytes);
  CHECK(package.format() == 4);
  CHECK(package.function(0).grid_rank == 2);
  CHECK(package.function(0).max_threads == 512);
  check_round_trip({library});
  const size_t functions = sizeof(PackageHeader) + sizeof(ManifestHeader) + sizeof(LibraryRow) + 2 * sizeof(TagRow);
  Bytes changed = bytes;
  changed[functions + offsetof(FunctionRow, grid_rank)] = std::byte{4};
  reseal(changed);
  CHECK_FALSE(Package::open(changed));
}

TEST_CASE("members that contradict the rest of the manifest are corrupt") {
  const Bytes bytes = written({with_members()});
  const PackageHeader header = [&] {
    PackageHeader read;
    std::memcpy(&read, bytes.data(), sizeof(read));
    return read;
  }();
  ManifestHeader counts;
  std::memcpy(&counts, bytes.data() + header.manifest_offset, sizeof(counts));
  REQUIRE(counts.members == 3);
  const size_t rows = header.manifest_offset + header.manifest_size - counts.text_bytes - 3 * sizeof(MemberRow);
  const auto damaged = [&](size_t row, size_t field, uint8_t value) {
    Bytes copy = bytes;
    copy[rows + row * sizeof(MemberRow) + field] = std::byte{value};
    reseal(copy);
    const auto opened = Package::open(copy);
    return opened ? std::string("opens") : std::string(to_string(opened.error().code));
  };
  CHECK(damaged(0, offsetof(MemberRow, id), 99) == "opens");
  CHECK(damaged(0, offsetof(MemberRow, argument), 3) == "corrupt");  // there are three
  CHECK(damaged(0, offsetof(MemberRow, argument), 2) == "corrupt");  // before the rows of 1
  CHECK(damaged(1, offsetof(MemberRow, kind), 3) == "corrupt");
  CHECK(damaged(1, offsetof(MemberRow, access), 9) == "corrupt");
  CHECK(damaged(1, offsetof(MemberRow, zero), 1) == "corrupt");
  CHECK(damaged(2, offsetof(MemberRow, name) + 3, 1) == "corrupt");
  // A table of members in a file of format 1.
  Bytes old = bytes;
  old[4] = old[6] = std::byte{1};
  reseal(old);
  CHECK_FALSE(Package::open(old));
}

namespace {

// The promise: a package of a released format opens in every later version. These files are never rewritten.
// Nothing when the file was written just now.
std::optional<Bytes> golden_package(const char* name, const Bytes& now) {
  const std::filesystem::path file = std::filesystem::path(SMELT_SOURCE_DIR) / "tests/golden" / name;
  if (const char* accept = std::getenv("SMELT_ACCEPT"); accept && !std::filesystem::exists(file)) {
    std::filesystem::create_directories(file.parent_path());
    REQUIRE(write_file(file, now));
    MESSAGE("wrote " << file.string());
    return std::nullopt;
  }
  return test::must_read(file);
}

}  // namespace

TEST_CASE("packages of format 4 open") {
  Library library = two_kernels();
  library.functions.front().grid_rank = 2;
  const Bytes now = written({library});
  const auto golden = golden_package("package-v4/grid_rank.smelt", now);
  if (!golden) return;
  const Package package = opened(*golden);
  CHECK(package.format() == 4);
  CHECK(check_all_parts(package));
  CHECK(package.function(0).grid_rank == 2);
  CHECK(package.function(0).max_threads == 512);
  if (kPackageFormat == 4 && kCpuSliceFormat == 10) CHECK(now == *golden);
}

TEST_CASE("packages of format 3 open") {
  Library library = two_kernels();
  library.functions[0].arguments[0].kind = ArgumentKind::stage_input;
  const Bytes now = written({library});
  const auto golden = golden_package("package-v3/stage_input.smelt", now);
  if (!golden) return;
  const Package package = opened(*golden);
  CHECK(package.format() == 3);
  CHECK(check_all_parts(package));
  CHECK(package.argument(package.function(0).arguments.first).kind == ArgumentKind::stage_input);
}

TEST_CASE("packages of format 2 open") {
  const Bytes now = written({with_members()});
  const auto golden = golden_package("package-v2/argument_buffer.smelt", now);
  if (!golden) return;
  const Package package = opened(*golden);
  CHECK(package.format() == 2);
  CHECK(check_all_parts(package));
  CHECK(package.argument(package.function(0).arguments.first + 1).members.size() == 2);
  if (kPackageFormat == 2 && kCpuSliceFormat == 2) CHECK(now == *golden);
}

TEST_CASE("packages of format 1 open") {
  const Bytes now = written({two_kernels()});
  const auto golden = golden_package("package-v1/two_kernels.smelt", now);
  if (!golden) return;
  const Package package = opened(*golden);
  CHECK(package.format() == 1);
  CHECK(check_all_parts(package));
  CHECK(package.library(0).name == "maths");
  CHECK(package.function(package.find_function(package.library(0), "saxpy").value()).max_threads == 512);
  if (kCpuSliceFormat == 1) CHECK(now == *golden);
}
