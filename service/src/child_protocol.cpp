// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "child_protocol.hpp"

#include "smelt/aot/fingerprint.hpp"

namespace smelt::service {
namespace {

class Writer {
 public:
  void number(uint64_t value) { bytes_.put(value); }
  void blob(ByteView view) {
    number(view.size());
    bytes_.put_bytes(view);
  }
  void text(std::string_view value) { blob(as_bytes(value)); }
  template <class T, class Put>
  void list(const std::vector<T>& values, Put put) {
    number(values.size());
    for (const T& value : values) put(value);
  }
  void texts(const std::vector<std::string>& values) {
    list(values, [&](const std::string& value) { text(value); });
  }
  template <class T, class Put>
  void maybe(const std::optional<T>& value, Put put) {
    number(value.has_value());
    if (value) put(*value);
  }
  Bytes take() { return bytes_.take(); }

 private:
  ByteWriter bytes_;
};

/// The first error stays; what is read afterwards is empty.
class Reader {
 public:
  explicit Reader(ByteView bytes) : cursor_(bytes, "message") {}

  uint64_t number() {
    if (error_) return 0;
    auto value = cursor_.read<uint64_t>();
    if (!value) error_ = value.error();
    return value.value_or(0);
  }
  ByteView blob() {
    const uint64_t size = number();
    if (error_) return {};
    auto bytes = cursor_.take(size);
    if (!bytes) error_ = bytes.error();
    return bytes.value_or(ByteView());
  }
  std::string text() { return std::string(as_text(blob())); }
  template <class Take>
  void list(Take take) {
    for (uint64_t left = number(); left != 0 && !error_; --left) take();
  }
  std::vector<std::string> texts() {
    std::vector<std::string> values;
    list([&] { values.push_back(text()); });
    return values;
  }
  template <class Take>
  void maybe(Take take) {
    if (number() != 0 && !error_) take();
  }
  Result<void> finish() {
    if (!error_ && !cursor_.at_end()) error_ = Error{Errc::corrupt, "message: bytes after its end", {}};
    return error_ ? Result<void>(tl::unexpected(*error_)) : Result<void>();
  }

 private:
  Cursor cursor_;
  std::optional<Error> error_;
};

void write_version(Writer& out, const aot::Version& version) {
  for (const uint16_t part : {version.major, version.minor, version.patch}) out.number(part);
}

aot::Version read_version(Reader& in) {
  aot::Version version;
  for (uint16_t* part : {&version.major, &version.minor, &version.patch}) *part = static_cast<uint16_t>(in.number());
  return version;
}

/// Not by its name: that of a library built elsewhere may be none of ours.
void write_target(Writer& out, const aot::Target& target) {
  const auto& [name, platform, os, air, language, container_patch, triple] = target;
  out.text(name);
  out.number(static_cast<uint64_t>(platform));
  for (const aot::Version* version : {&os, &air, &language}) write_version(out, *version);
  out.number(container_patch);
  out.text(triple);
}

aot::Target read_target(Reader& in) {
  aot::Target target;
  target.name = in.text();
  target.platform = static_cast<aot::Platform>(in.number());
  for (aot::Version* version : {&target.os, &target.air, &target.language}) *version = read_version(in);
  target.container_patch = static_cast<uint16_t>(in.number());
  target.triple = in.text();
  return target;
}

void write_request(Writer& out, const Request& request) {
  // All of both, so that a new member is not forgotten here.
  [[maybe_unused]] const auto& [sources, options, cpu, levels, checked, effort, name, version, sandbox] = request;
  [[maybe_unused]] const auto& [targets,
#define SMELT_FLAG(member, ...) member,
#define SMELT_NUMBER(member, ...) member,
#define SMELT_TEXTS(member, ...) member,
#include "smelt/aot/options.def"
                                metadata, math, language, object, cache_folder, stop_after, threads, progress] =
      options;
  out.list(sources, [&](const aot::Source& source) {
    out.text(source.name);
    out.blob(source.bytes);
  });
  out.list(targets, [&](const aot::Target& target) { write_target(out, target); });
#define SMELT_FLAG(member, ...) out.number(member);
#define SMELT_NUMBER(member, ...) out.maybe(member, [&](uint64_t value) { out.number(value); });
#define SMELT_TEXTS(member, ...) out.texts(member);
#include "smelt/aot/options.def"
  out.text(cache_folder);
  out.text(metadata);
  out.number(static_cast<uint64_t>(math.mode));
  for (const bool flag : {math.fast_functions, cpu}) out.number(flag);
  out.number(checked.bits());
  out.maybe(language, [&](const aot::Version& value) { write_version(out, value); });
  out.list(levels, [&](aot::CpuLevel level) { out.text(aot::to_string(level)); });
  out.text(aot::to_string(effort));
  out.text(name);
  out.text(version);
}

Result<Request> read_request(Reader& in) {
  Request request;
  Result<void> names;
  in.list([&] {
    std::string source = in.text();
    request.sources.push_back({std::move(source), in.blob()});
  });
  in.list([&] { request.options.targets.push_back(read_target(in)); });
  aot::CompileOptions& options = request.options;
#define SMELT_FLAG(member, ...) options.member = in.number() != 0;
#define SMELT_NUMBER(member, type, ...) in.maybe([&] { options.member = static_cast<type>(in.number()); });
#define SMELT_TEXTS(member, ...) options.member = in.texts();
#include "smelt/aot/options.def"
  options.cache_folder = in.text();
  request.options.metadata_json = in.text();
  request.options.math.mode = static_cast<aot::MathMode>(std::min<uint64_t>(in.number(), 2));
  for (bool* flag : {&request.options.math.fast_functions, &request.cpu}) *flag = in.number() != 0;
  request.checked = Checks::from_bits(static_cast<uint32_t>(in.number()));
  in.maybe([&] { request.options.language = read_version(in); });
  in.list([&] {
    const auto level = aot::parse_cpu_level(in.text());
    if (level)
      request.levels.push_back(*level);
    else
      names = tl::unexpected(level.error());
  });
  const auto effort = aot::parse_cpu_effort(in.text());
  if (effort)
    request.effort = *effort;
  else if (names)
    names = tl::unexpected(effort.error());
  request.name = in.text();
  request.version = in.text();
  if (!names) return tl::unexpected(std::move(names).error());
  return request;
}

}  // namespace

Bytes write_job(const ChildJob& job) {
  Writer out;
  out.text(aot::compiler_identity());
  out.number(job.threads);
  out.number(static_cast<uint64_t>(job.time.count()));
  out.number(job.memory_bytes);
  out.number(job.nice);
  out.maybe(job.request, [&](const Request& request) { write_request(out, request); });
  out.maybe(job.package, [&](const Bytes& package) { out.blob(package); });
  out.maybe(job.wanted, [&](const std::vector<CpuCode>& codes) {
    out.list(codes, [&](const CpuCode& code) {
      out.text(aot::to_string(code.level));
      out.number(code.checked.bits());
      out.text(aot::to_string(code.effort));
    });
  });
  out.maybe(job.folder, [&](const std::string& folder) { out.text(folder); });
  out.number(job.only_read);
  return out.take();
}

Result<ChildJob> read_job(ByteView bytes) {
  Reader in(bytes);
  ChildJob job;
  if (in.text() != aot::compiler_identity())
    return fail(Errc::toolchain_missing, "{} is of another build of smelt", kChildProgram);
  job.threads = static_cast<unsigned>(in.number());
  job.time = std::chrono::milliseconds(in.number());
  job.memory_bytes = in.number();
  job.nice = static_cast<unsigned>(std::min<uint64_t>(in.number(), 19));
  Result<void> parts;
  in.maybe([&] {
    auto request = read_request(in);
    if (request)
      job.request = std::move(*request);
    else
      parts = tl::unexpected(request.error());
  });
  in.maybe([&] { job.package = to_bytes(in.blob()); });
  in.maybe([&] {
    job.wanted.emplace();
    in.list([&] {
      const auto level = aot::parse_cpu_level(in.text());
      const Checks checked = Checks::from_bits(static_cast<uint32_t>(in.number()));
      const auto effort = aot::parse_cpu_effort(in.text());
      if (level && effort)
        job.wanted->push_back({*level, checked, *effort});
      else
        parts = tl::unexpected(level ? effort.error() : level.error());
    });
  });
  in.maybe([&] { job.folder = in.text(); });
  job.only_read = in.number() != 0;
  SMELT_TRY_VOID(parts);
  SMELT_TRY_VOID(in.finish());
  return job;
}

Bytes write_outcome(const Result<Built>& outcome) {
  Writer out;
  out.number(outcome.has_value());
  if (outcome) {
    out.blob(outcome->package);
    out.texts(outcome->warnings);
    out.number(outcome->kernels);
  } else {
    out.number(static_cast<uint64_t>(outcome.error().code));
    out.text(outcome.error().message);
    out.text(outcome.error().subject);
  }
  return out.take();
}

namespace {
constexpr size_t kLengthBytes = 8, kMarkBytes = 4;
constexpr uint32_t kMark = 0xFFFFFFFF;
}  // namespace

Bytes framed(ByteView outcome) {
  ByteWriter out;
  out.put(uint64_t{outcome.size()});
  out.put_bytes(outcome);
  out.put(kMark);
  return out.take();
}

Result<void> check_length(ByteView answer, uint64_t memory_bytes) {
  const uint64_t most = memory_bytes / 2;
  const uint64_t claimed = answer.size() < kLengthBytes ? 0 : load_le<uint64_t>(answer.data());
  if (answer.size() <= most && claimed <= most) return {};
  return fail(Errc::corrupt, "the compiling child returns more than fits in {} MB of memory: the input is malicious",
              memory_bytes >> 20);
}

bool is_complete(ByteView answer) {
  if (answer.size() < kLengthBytes + kMarkBytes) return false;
  const auto length = load_le<uint64_t>(answer.data());
  return length <= answer.size() - kLengthBytes - kMarkBytes &&
         load_le<uint32_t>(answer.data() + kLengthBytes + length) == kMark;
}

ByteView unframed(ByteView answer) {
  return answer.subspan(kLengthBytes, load_le<uint64_t>(answer.data()));
}

namespace {

/// Messages of a compiler have lines.
std::string printable_lines(std::string_view text) {
  std::string lines;
  for (;;) {
    const size_t end = text.find('\n');
    lines += printable(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    lines += '\n';
    text.remove_prefix(end + 1);
  }
}

}  // namespace

Result<Built> read_outcome(ByteView bytes) {
  Reader in(bytes);
  if (in.number() != 0) {
    Built built(signing::Provenance::made_here());  // of what the job brought
    built.package = to_bytes(in.blob());
    built.warnings = in.texts();
    for (std::string& warning : built.warnings) warning = printable_lines(warning);
    built.kernels = in.number();
    SMELT_TRY_VOID(in.finish());
    return built;
  }
  Error error;
  error.code = static_cast<Errc>(in.number());
  error.message = printable_lines(in.text());
  error.subject = printable(in.text());
  SMELT_TRY_VOID(in.finish());
  if (to_string(error.code) == to_string(Errc(-1)) || error.code == Errc::ok) error.code = Errc::compile_failed;
  return tl::unexpected(std::move(error));
}

}  // namespace smelt::service
