// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt run FILE FUNCTION --threads X[,Y[,Z]] ARG...: one dispatch from the shell, arrays as .npy files.
#include "smelt/base/files.hpp"
#include "smelt/loader/crash_report.hpp"
#include "smelt/loader/encoder.hpp"
#include "smelt/loader/findings.hpp"
#include "smelt/schema/package.hpp"
#include "smelt/service/session.hpp"

#include "checked_option.hpp"
#include "png.hpp"
#include "run_argument.hpp"
#include "run_stage.hpp"
#include "run_texture.hpp"
#include "verbs.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <memory>

namespace smelt::cli {
namespace {

using namespace loader;

struct RunOptions {
  std::string file;
  std::string function;
  std::string threads;
  std::string group;
  std::vector<std::string> arguments;
  std::vector<std::string> constants;
  std::vector<std::string> threadgroup_memory;
  std::vector<std::string> textures, samplers;
  std::vector<std::string> inputs, outputs;
  std::string library;
  std::string device = "automatic";
  std::string cpu;
  std::string trust, expect;
  std::vector<std::string> trusted;
  bool no_native = false;
  Checks checked;
  unsigned repeat = 0, orders = 0;
};

Result<DeviceRef> open_device(const RunOptions& options) {
  DeviceOptions with;
  with.cpu_level = options.cpu;
  DeviceKind kind = DeviceKind::automatic;
  if (options.device == "cpu" || !options.cpu.empty() || options.checked || options.orders != 0) kind = DeviceKind::cpu;
  if (options.device == "metal") kind = DeviceKind::metal;
  return Device::open(kind, with);
}

Result<Scalar> parse_scalar(std::string_view text) {
  if (text == "true" || text == "false") return Scalar(text == "true");
  int64_t integer = 0;
  const char* const end = text.data() + text.size();
  if (const auto parsed = std::from_chars(text.data(), end, integer); parsed.ec == std::errc() && parsed.ptr == end)
    return Scalar(integer);
  uint64_t large = 0;
  if (const auto parsed = std::from_chars(text.data(), end, large); parsed.ec == std::errc() && parsed.ptr == end)
    return Scalar(large);
  double real = 0;
  if (const auto parsed = std::from_chars(text.data(), end, real); parsed.ec == std::errc() && parsed.ptr == end)
    return Scalar(real);
  return fail(Errc::constant_type, "'{}' is neither a number nor true or false", text);
}

/// NAME=VALUE or INDEX=VALUE; the components of a vector are separated by commas.
Result<ConstantValues> parse_constants(const std::vector<std::string>& texts) {
  ConstantValues values;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == text.npos || equals == 0)
      return fail(Errc::invalid_argument, "--constant '{}': want NAME=VALUE or INDEX=VALUE", text);
    const std::string name = text.substr(0, equals);
    ConstantValue value;
    uint32_t index = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), index);
    if (parsed.ec == std::errc() && parsed.ptr == name.data() + name.size())
      value.key = index;
    else
      value.key = name;
    for (std::string_view rest = std::string_view(text).substr(equals + 1);;) {
      const size_t comma = rest.find(',');
      SMELT_TRY(Scalar component, parse_scalar(rest.substr(0, comma)));
      value.components.push_back(component);
      if (comma == rest.npos) break;
      rest.remove_prefix(comma + 1);
    }
    values.add(std::move(value));
  }
  return values;
}

struct Extent {
  Size3 size;
  int rank = 1;
};

Result<Extent> parse_extent(const std::string& text, std::string_view what) {
  const auto counts = parse_counts(text);
  if (!counts || counts->size() > 3)
    return fail(Errc::invalid_argument, "{} '{}': want counts, as X, X,Y or X,Y,Z", what, text);
  const auto at = [&](size_t i) { return i < counts->size() ? (*counts)[i] : 1; };
  return Extent{{at(0), at(1), at(2)}, static_cast<int>(counts->size())};
}

struct ThreadgroupMemory {
  uint32_t index = 0;
  uint64_t bytes = 0;
};

/// BYTES or INDEX=BYTES.
Result<ThreadgroupMemory> parse_threadgroup_memory(const std::string& text) {
  const size_t equals = text.find('=');
  const auto index = parse_counts(equals == text.npos ? "0" : text.substr(0, equals));
  const auto bytes = parse_counts(equals == text.npos ? text : text.substr(equals + 1));
  constexpr uint64_t kMostIndex = 30;
  if (!index || !bytes || index->size() != 1 || bytes->size() != 1 || index->front() > kMostIndex)
    return fail(Errc::invalid_argument, "--threadgroup-memory '{}': want BYTES or INDEX=BYTES, index at most {}", text,
                kMostIndex);
  return ThreadgroupMemory{static_cast<uint32_t>(index->front()), bytes->front()};
}

/// The command line's words as values, before anything is loaded.
struct Launch {
  Extent threads;
  std::optional<Extent> group;
  ConstantValues constants;
  std::vector<RunArgument> arguments;
  std::vector<ThreadgroupMemory> threadgroup_memory;
  std::vector<RunTexture> textures;
  std::vector<RunSampler> samplers;
  std::vector<StageInput> inputs;
  std::vector<StageOutput> outputs;
};

Result<Launch> read_launch(const RunOptions& options) {
  Launch launch;
  SMELT_TRY(launch.threads, parse_extent(options.threads, "--threads"));
  if (!options.group.empty()) {
    SMELT_TRY(launch.group, parse_extent(options.group, "--group"));
    if (launch.group->rank != launch.threads.rank)
      return fail(Errc::rank_mismatch, "--threads has {} components, --group {}; give as many", launch.threads.rank,
                  launch.group->rank);
  }
  SMELT_TRY(launch.constants, parse_constants(options.constants));
  for (const std::string& text : options.threadgroup_memory) {
    SMELT_TRY(launch.threadgroup_memory.emplace_back(), parse_threadgroup_memory(text));
  }
  for (const std::string& text : options.arguments) {
    SMELT_TRY(launch.arguments.emplace_back(), parse_argument(text));
  }
  for (const std::string& text : options.textures) {
    SMELT_TRY(launch.textures.emplace_back(), parse_texture(text));
  }
  for (const std::string& text : options.samplers) {
    SMELT_TRY(launch.samplers.emplace_back(), parse_run_sampler(text));
  }
  for (const std::string& text : options.inputs) {
    SMELT_TRY(launch.inputs.emplace_back(), parse_stage_input(text));
  }
  for (const std::string& text : options.outputs) {
    SMELT_TRY(launch.outputs.emplace_back(), parse_stage_output(text));
  }
  return launch;
}

/// The library that has the function: the named one, else, in a package of several, the only one that fits.
Result<LibraryRef> load(const RunOptions& options, const DeviceRef& device) {
  SMELT_TRY(const std::shared_ptr<const MappedFile> file, MappedFile::open(options.file));
  LoadOptions with;
  with.checked = options.checked;
  with.library = options.library;
  with.native = !options.no_native;
  if (!options.expect.empty()) {
    SMELT_TRY(with.expect, digest_from_hex(options.expect));
  }
  if (!options.trust.empty() || !options.trusted.empty()) {
    std::optional<signing::Level> level;
    if (!options.trust.empty()) {
      SMELT_TRY(level, signing::parse_level(options.trust));
    }
    SMELT_TRY(signing::Policy policy, signing::Policy::from_environment_for(signing::Origin::named_path, level));
    for (const std::string& keys : options.trusted) SMELT_TRY_VOID(policy.add_file(keys));
    if (!options.trusted.empty() && policy.level != signing::Level::signed_only)
      return fail(Errc::invalid_argument,
                  "--trusted needs --trust signed; trust is '{}', which accepts unsigned packages",
                  signing::to_string(policy.level));
    with.policy = std::make_shared<const signing::Policy>(std::move(policy));
  }
  if (schema::Package::looks_like(file->bytes())) {
    SMELT_TRY(const schema::Package package, schema::Package::open(file->bytes()));
    if (with.library.empty() && package.library_count() > 1) {
      for (uint32_t i = 0; i < package.library_count(); ++i) {
        const schema::LibraryView library = package.library(i);
        if (!package.find_function(library, options.function)) continue;
        if (!with.library.empty())
          return fail(Errc::invalid_argument, "libraries '{}' and '{}' both have a function '{}'; say which: --library",
                      with.library, library.name, options.function);
        with.library = library.name;
      }
    }
  }
  return service::Session::open()->load_bytes({file->bytes(), file}, options.file, device, with);
}

/// The array of an argument that is a tensor: its last dimension is dimension 0.
std::optional<TensorShape> tensor_shape(const Function& function, uint32_t index, const RunArgument& argument) {
  for (const ArgInfo& one : function.args()) {
    const auto element = tensor_element(one);
    if (!element || one.index != index) continue;
    TensorShape shape{std::string(*element), {}, {}};
    shape.extents.assign(argument.array.shape.rbegin(), argument.array.shape.rend());
    return shape;
  }
  return std::nullopt;
}

Result<void> bind_argument(Encoder& encoder, const Function& function, uint32_t index, const RunArgument& argument,
                           std::vector<BufferRef>& buffers) {
  buffers.emplace_back();
  if (argument.functions) {
    const std::vector<std::string_view> names(argument.functions->begin(), argument.functions->end());
    SMELT_TRY_VOID(check_visible(*function.library(), names));
    return encoder.set_function_table(index, names);
  }
  if (argument.is_scalar) return encoder.set_bytes(index, argument.array.data);
  SMELT_TRY(buffers.back(), encoder.device()->make_buffer(argument.array.data.size()));
  const auto contents = buffers.back()->contents();
  std::copy(argument.array.data.begin(), argument.array.data.end(), contents.begin());
  if (const auto shape = tensor_shape(function, index, argument))
    return encoder.set_tensor(index, buffers.back(), 0, *shape);
  return encoder.set_buffer(index, buffers.back());
}

/// "f32", "u8", "bf16", "bool": what the elements of an argument are.
ElementKind kind_of(std::string_view type) {
  return type == "bool"          ? ElementKind::boolean
         : type == "bf16"        ? ElementKind::bfloat
         : type.starts_with('f') ? ElementKind::floating
         : type.starts_with('i') ? ElementKind::integer
                                 : ElementKind::unsigned_integer;
}

/// As for the arguments of a call in Python: docs/reference/arguments.md.
Result<void> check_arguments(const Function& function, const RunOptions& options,
                             const std::vector<RunArgument>& arguments, Context& context) {
  if (!function.library()->has_reflection()) return {};
  const auto args = function.args();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].functions) continue;  // which the launch checks
    const auto wants = std::find_if(args.begin(), args.end(), [&](const ArgInfo& one) {
      const bool is_tensor = tensor_element(one).has_value();
      return (class_of(one.kind) == BindingClass::buffer || is_tensor) && !is_stage_array(one) && one.index <= i &&
             i < one.index + std::max<size_t>(one.array_size, 1);
    });
    if (wants == args.end()) {
      context.warn(fmt::format("argument '{}': '{}' has no buffer {}", options.arguments[i], function.name(), i));
      continue;
    }
    const NpyArray& array = arguments[i].array;
    const HostArray given{kind_of(array.type), element_bytes(array.type).value_or(0), array.shape};
    const auto wrong =
        misfit(given, number_type(wants->type_name, wants->size), wants->type_name, wants->size, wants->members);
    if (!wrong) continue;
    const bool is_element = wrong->kind == Misfit::Kind::element;
    return fail(Errc::argument_mismatch, "argument '{}' is {}; '{}' expects {} in buffer {} '{}'{}{}{}",
                options.arguments[i], is_element ? array.type : wrong->given, function.name(), wants->type_name, i,
                wants->name, wrong->remedy.empty() ? "" : "; ", is_element ? "pass elements of " : "", wrong->remedy);
  }
  return {};
}

void print_times(std::vector<double>& microseconds) {
  std::sort(microseconds.begin(), microseconds.end());
  fmt::print(stderr, "{} more runs: fastest {:.2f} us, median {:.2f} us\n", microseconds.size(), microseconds.front(),
             microseconds[microseconds.size() / 2]);
}

/// A kernel with its arguments bound.
struct Bound {
  std::unique_ptr<Encoder> encoder;
  std::vector<BufferRef> buffers;  ///< null for scalars
  std::vector<Bytes> texels;       ///< of each texture
  std::vector<NpyArray> results;   ///< of each --output

  /// What it may leave: buffers, then textures.
  std::vector<std::span<std::byte>> contents() {
    std::vector<std::span<std::byte>> all;
    for (const BufferRef& buffer : buffers) all.push_back(buffer ? buffer->contents() : std::span<std::byte>());
    for (Bytes& one : texels) all.emplace_back(one);
    for (NpyArray& one : results) all.emplace_back(one.data);
    return all;
  }

  Result<void> dispatch(const Launch& launch) const {
    const auto group = launch.group ? std::optional(launch.group->size) : std::nullopt;
    SMELT_TRY_VOID(encoder->dispatch_threads(launch.threads.size, group, launch.threads.rank));
    return encoder->wait();
  }
};

Result<Bound> bind(const RunOptions& options, const Launch& launch, Context& context) {
  SMELT_TRY(const DeviceRef device, open_device(options));
  auto library = load(options, device);
  if (!library) return tl::unexpected(std::move(library).error().in(options.file));
  SMELT_TRY(const FunctionRef function, (*library)->function(options.function));
  SMELT_TRY(const PipelineRef pipeline, function->pipeline(launch.constants));
  Bound bound;
  SMELT_TRY(bound.encoder, Encoder::create(device));
  Encoder& encoder = *bound.encoder;
  SMELT_TRY_VOID(encoder.set_pipeline(pipeline));
  SMELT_TRY(const FunctionRef described, function->with_code());
  SMELT_TRY_VOID(check_arguments(*described, options, launch.arguments, context));
  for (size_t i = 0; i < launch.arguments.size(); ++i)
    SMELT_TRY_VOID(bind_argument(encoder, *described, static_cast<uint32_t>(i), launch.arguments[i], bound.buffers));
  for (const ThreadgroupMemory& memory : launch.threadgroup_memory)
    SMELT_TRY_VOID(encoder.set_threadgroup_memory(memory.index, memory.bytes));
  for (const RunTexture& texture : launch.textures) bound.texels.push_back(texture.argument.array.data);
  for (size_t i = 0; i < launch.textures.size(); ++i)
    SMELT_TRY_VOID(bind_texture(encoder, *described, launch.textures[i], bound.texels[i]));
  for (const RunSampler& sampler : launch.samplers) SMELT_TRY_VOID(bind_sampler(encoder, *described, sampler));
  for (const StageInput& input : launch.inputs) SMELT_TRY_VOID(bind_stage_input(encoder, *described, input));
  for (const StageOutput& output : launch.outputs) {
    SMELT_TRY(bound.results.emplace_back(), make_stage_output(*described, output, launch.threads.size.x));
  }
  for (size_t i = 0; i < launch.outputs.size(); ++i)
    SMELT_TRY_VOID(bind_stage_output(encoder, *described, launch.outputs[i], bound.results[i]));
  return bound;
}

void print_notes() {
  for (const Finding& finding : last_findings()) fmt::print(stderr, "smelt: note: {}\n", text_of(finding));
}

/// What the launch leaves in its buffers must not depend on the order in which groups run.
Result<void> compare_orders(const RunOptions& options, const Launch& launch, Context& context) {
  std::vector<Bytes> first;
  for (unsigned i = 0; i < options.orders; ++i) {
    const std::string order = i == 0 ? "forward" : i == 1 ? "reverse" : fmt::format("random:{}", i);
    // A device takes its order when it is opened.
    ::setenv("SMELT_ORDER", order.c_str(), 1);
    SMELT_TRY(Bound bound, bind(options, launch, context));
    SMELT_TRY_VOID(bound.dispatch(launch));
    const std::vector<std::span<std::byte>> left = bound.contents();
    for (size_t k = 0; k < left.size(); ++k) {
      if (i == 0) {
        first.emplace_back(left[k].begin(), left[k].end());
        continue;
      }
      const auto differs = std::mismatch(first[k].begin(), first[k].end(), left[k].begin(), left[k].end());
      if (differs.first == first[k].end()) continue;
      const size_t buffers = bound.buffers.size();
      if (k >= buffers + launch.textures.size())
        return fail(Errc::invalid_argument,
                    "function '{}': output '{}' differs between SMELT_ORDER={} and SMELT_ORDER=forward",
                    options.function, launch.outputs[k - buffers - launch.textures.size()].name, order);
      const RunArgument& argument = k < buffers ? launch.arguments[k] : launch.textures[k - buffers].argument;
      const auto size = std::max<size_t>(element_bytes(argument.array.type).value_or(1), 1);
      return fail(
          Errc::invalid_argument,
          "kernel '{}': the result depends on the order in which threadgroups run: {}, element {} differs between "
          "SMELT_ORDER={} and SMELT_ORDER=forward; smelt run --checked=races names the accesses that no barrier orders",
          options.function,
          k < buffers ? fmt::format("buffer {}", k) : fmt::format("texture '{}'", launch.textures[k - buffers].name),
          static_cast<size_t>(differs.first - first[k].begin()) / size, order);
    }
  }
  fmt::print(stderr, "{} orders gave the same result\n", options.orders);
  return {};
}

Result<void> run_kernel(const RunOptions& options, Context& context) {
  SMELT_TRY(Launch launch, read_launch(options));
  report_crashes("smelt run --checked names the thread and the access.");
  if (options.orders != 0) {
    SMELT_TRY_VOID(compare_orders(options, launch, context));
    ::setenv("SMELT_ORDER", "forward", 1);
  }
  SMELT_TRY(Bound bound, bind(options, launch, context));
  const std::vector<BufferRef>& buffers = bound.buffers;
  const auto dispatch = [&] { return bound.dispatch(launch); };
  SMELT_TRY_VOID(dispatch());
  print_notes();

  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    RunArgument& argument = launch.arguments[i];
    if (!argument.write_to) continue;
    const auto contents = buffers[i]->contents().first(argument.array.data.size());
    argument.array.data.assign(contents.begin(), contents.end());
    SMELT_TRY_VOID(write_array(*argument.write_to, argument.array));
  }
  for (size_t i = 0; i < launch.textures.size(); ++i) {
    RunArgument& argument = launch.textures[i].argument;
    if (!argument.write_to) continue;
    argument.array.data = bound.texels[i];
    SMELT_TRY_VOID(write_array(*argument.write_to, argument.array));
  }
  for (size_t i = 0; i < launch.outputs.size(); ++i)
    SMELT_TRY_VOID(write_array(launch.outputs[i].file, bound.results[i]));
  std::vector<double> times;
  for (unsigned i = 0; i < options.repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    SMELT_TRY_VOID(dispatch());
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  if (!times.empty()) print_times(times);
  return {};
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("run", "Run a kernel, vertex or fragment function on arrays from .npy files");
  verb->footer(
      "ARG binds buffer 0, 1, ...:\n"
      "  x.npy            read\n"
      "  x.npy=y.npy      read, and written to y.npy afterwards\n"
      "  f32[1024]=y.npy  zeros of that type and shape, written to y.npy afterwards\n"
      "  i32:5            a scalar; types: f16 bf16 f32 i8 i16 i32 i64 u8 u16 u32 u64 bool\n"
      "  functions:f,g    a table of visible functions of the library; f,,g leaves the entry between f and g empty\n"
      "A .png file is an array of u8: height, width, and 4 channels if it has colours.\n\n"
      "Vertex and fragment functions have an array for each input and result, with one element per thread\n"
      "(docs/reference/stages.md).\n\n"
      "Examples:\n"
      "  smelt run saxpy.smelt saxpy --threads 1000 x.npy y.npy=out.npy f32:2\n"
      "  smelt run shaders.smelt colour --threads 4 --input tint=tint.npy --output color0=out.npy");
  auto options = std::make_shared<RunOptions>();
  verb->add_option("FILE", options->file, "Package or Metal library with the function")->required();
  verb->add_option("FUNCTION", options->function, "Kernel, vertex or fragment function to run")->required();
  verb->add_option("ARG", options->arguments, "Value of buffer 0, 1, ... (below)");
  verb->add_option("--threads", options->threads, "Threads of the whole grid: X, X,Y or X,Y,Z")->required();
  verb->add_option("--group", options->group, "Threads per threadgroup: X, X,Y or X,Y,Z, as --threads");
  verb->add_option("--constant", options->constants, "Function constant: NAME=VALUE or INDEX=VALUE; may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--threadgroup-memory", options->threadgroup_memory,
                   "Bytes of threadgroup argument 0, or INDEX=BYTES")
      ->allow_extra_args(false);
  verb->add_option(
          "--texture", options->textures,
          "NAME=ARG: a texture. NAME is the argument's name or index; ARG is a .png file, a .npy file or zeros. "
          "NAME:FORMAT=ARG also chooses the pixel format. May be repeated")
      ->allow_extra_args(false);
  verb->add_option("--sampler", options->samplers,
                   "NAME=STATES: a sampler, e.g. by='filter::linear, address::repeat'. NAME is the argument's name or "
                   "index; STATES are spelled as in Metal source. May be repeated")
      ->allow_extra_args(false);
  verb->add_option("--input", options->inputs,
                   "NAME=ARG: an input of a vertex or fragment function, with one element per thread; may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--output", options->outputs,
                   "NAME=FILE: the file for a result of a vertex or fragment function; may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--library", options->library, "Library of the package, when several have the function");
  verb->add_option("--device", options->device, "Where to run: automatic, cpu or metal")
      ->check(CLI::IsMember({"automatic", "cpu", "metal"}));
  verb->add_option("--cpu", options->cpu, "Force a level of CPU code, e.g. x86-64-v3");
  add_checked(*verb, options->checked,
              "Use CPU code with checks: all, or =memory,races,init,sync (see docs/guide/races.md)");
  verb->add_option("--expect", options->expect, "Digest that the file must have");
  verb->add_option("--trust", options->trust, "Packages to accept: any, local or signed (default: SMELT_TRUST)");
  verb->add_option("--trusted", options->trusted, "File of trusted public keys, with --trust signed; may be repeated")
      ->allow_extra_args(false);
  verb->add_flag("--no-native", options->no_native, "Ignore a package's CPU code; make it from its Metal library");
  verb->add_option("--repeat", options->repeat, "Launch this many more times, and print the times")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--orders", options->orders,
                   "Run groups in this many orders, and fail if a result depends on the order (CPU)")
      ->check(CLI::NonNegativeNumber);
  verb->callback([options, &context] { context.finish(run_kernel(*options, context)); });
}

}  // namespace smelt::cli
