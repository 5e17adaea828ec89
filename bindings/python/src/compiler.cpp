// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt._compiler: the compiler, and the session that keeps what it makes in the store. The only module of the package
// that needs LLVM; it hands over bytes and knows nothing of how they are loaded.
#include "smelt/aot/limits.hpp"
#include "smelt/aot/target.hpp"
#include "smelt/base/seconds.hpp"
#include "smelt/remote/tiered_store.hpp"
#include "smelt/service/session.hpp"

#include "buffers.hpp"
#include "errors.hpp"
#include "interruptible.hpp"
#include "option.hpp"

#include <pybind11/stl.h>

#include <optional>

/// aot/opened has it, where the module opens the compiler at run time: null when that worked, else the reason.
extern "C" [[gnu::weak]] const char* smelt_compiler_trouble() noexcept;

namespace smelt::python {
namespace {

using namespace pybind11::literals;
using service::Session;

/// A progress callback from any thread. What it throws is thrown on once the work has ended, which it asks for then, as
/// it does when it returns False. Outlives the call that it was given to.
class ProgressCall {
 public:
  ProgressCall(py::object callable, std::shared_ptr<std::atomic<bool>> cancel)
      : callable_(std::move(callable)), cancel_(std::move(cancel)) {}
  ~ProgressCall() {
    if (!Py_IsInitialized()) {
      (void)callable_.release();
      return;
    }
    const GilTaken gil;
    callable_ = py::object();
    thrown_.reset();
  }
  ProgressCall(const ProgressCall&) = delete;
  ProgressCall& operator=(const ProgressCall&) = delete;

  void operator()(std::string_view stage, size_t done, size_t total) {
    if (cancel_->load()) return;  // before the lock: at the interpreter's end nobody is given it
    if (interpreter_ends()) return cancel_->store(true);
    const GilTaken gil;
    if (thrown_ || cancel_->load()) return;
    try {
      const py::object answer = callable_(text(stage), done, total);
      if (answer.is(py::bool_(false))) cancel_->store(true);
    } catch (py::error_already_set& error) {
      thrown_.emplace(std::move(error));
      cancel_->store(true);
    }
  }
  /// With the GIL.
  void rethrow() {
    if (thrown_) throw std::move(*thrown_);
  }

 private:
  py::object callable_;
  std::shared_ptr<std::atomic<bool>> cancel_;
  std::optional<py::error_already_set> thrown_;
};

/// Keeps what a request borrows.
struct RequestFrom {
  service::Request request;
  std::vector<std::shared_ptr<const BorrowedBuffer>> borrowed;
};

template <class T>
std::optional<T> optional_from(const py::dict& options, const char* name) {
  if (!options.contains(name) || options[name].is_none()) return std::nullopt;
  return option_as<T>(options[name], name);
}

bool flag(const py::dict& options, const char* name, bool otherwise = false) {
  return optional_from<bool>(options, name).value_or(otherwise);
}

aot::CpuEffort effort_from(const std::optional<std::string>& word) {
  if (word) return unwrap(aot::parse_cpu_effort(*word));
  return unwrap(service::effort_from_environment()).value_or(aot::CpuEffort::balanced);
}

RequestFrom request_from(const std::vector<std::pair<std::string, py::object>>& sources, const py::dict& options) {
  RequestFrom from;
  service::Request& request = from.request;
  for (const auto& [name, bytes] : sources) {
    from.borrowed.push_back(BorrowedBuffer::from(bytes, name));
    request.sources.push_back({name, from.borrowed.back()->bytes()});
  }
  aot::CompileOptions& with = request.options;
  for (const std::string& target :
       optional_from<std::vector<std::string>>(options, "targets").value_or(std::vector<std::string>()))
    with.targets.push_back(unwrap(aot::parse_target(target)));
#define SMELT_FLAG(member, name, ...) with.member = flag(options, #name);
#define SMELT_NUMBER(member, type, name, ...) with.member = optional_from<type>(options, #name);
#define SMELT_TEXTS(member, one, name, ...) \
  with.member = optional_from<std::vector<std::string>>(options, #name).value_or(std::vector<std::string>());
#define SMELT_INNER_TEXTS(member)
#include "smelt/aot/options.def"
  with.metadata_json = optional_from<std::string>(options, "metadata").value_or("");
  if (flag(options, "fast_math")) with.math = aot::kFastMath;
  if (const auto flags = optional_from<std::vector<std::string>>(options, "math_flags")) {
    aot::DriverFlags driver(aot::MathMode::safe);
    for (const std::string& one : *flags)
      if (!unwrap(driver.take(one))) raise(Errc::invalid_argument, "math_flags: '{}' is not a math flag", one);
    with.math = driver.math();
  }
  if (const auto language = optional_from<std::pair<uint16_t, uint16_t>>(options, "language"))
    with.language = aot::Version{language->first, language->second, 0};
  request.cpu = flag(options, "cpu", true);
  request.checked = Checks::from_bits(optional_from<unsigned>(options, "checked").value_or(0));
  request.effort = effort_from(optional_from<std::string>(options, "effort"));
  for (const std::string& level :
       optional_from<std::vector<std::string>>(options, "levels").value_or(std::vector<std::string>()))
    request.levels.push_back(unwrap(aot::parse_cpu_level(level)));
  if (const auto word = optional_from<std::string>(options, "sandbox"))
    request.sandbox = unwrap(service::parse_sandbox(*word));
  request.name = optional_from<std::string>(options, "name").value_or("");
  request.version = optional_from<std::string>(options, "version").value_or("");
  return from;
}

std::shared_ptr<Session> open_session(const std::string& store, bool use_store, bool offline, bool read_only,
                                      unsigned threads, const py::object& warn,
                                      std::optional<std::vector<std::string>> remotes) {
  service::SessionOptions options;
  options.remotes = std::move(remotes);
  options.store = store;
  options.use_store = use_store;
  options.offline = offline;
  options.read_only = read_only;
  options.threads = threads;
  if (!warn.is_none()) options.warn = warns_by(warn, "smelt warning");
  return Session::open(std::move(options));
}

aot::Limits limits_from(const std::optional<double>& timeout) {
  aot::Limits limits;
  if (timeout) {
    limits.time = unwrap(limit_from_seconds(*timeout, "timeout"));
    if (*timeout == 0) raise(Errc::invalid_argument, "timeout: want seconds, got 0; None means no limit");
  }
  return limits;
}

aot::Limits limits_from(const py::dict& options, const std::shared_ptr<std::atomic<bool>>& cancel) {
  aot::Limits limits = limits_from(optional_from<double>(options, "timeout"));
  limits.cancel = cancel;
  limits.memory_bytes = optional_from<uint64_t>(options, "max_memory").value_or(0);
  return limits;
}

service::CompileResult make(const std::shared_ptr<Session>& session,
                            const std::vector<std::pair<std::string, py::object>>& sources, const py::dict& options,
                            const py::object& progress) {
  const auto from = std::make_shared<const RequestFrom>(request_from(sources, options));
  // What the store has needs no thread.
  auto found = [&] {
    const GilReleased released;
    return session->find(from->request);
  }();
  if (auto hit = unwrap(std::move(found))) return std::move(*hit);
  const auto cancel = std::make_shared<std::atomic<bool>>(false);
  const aot::Limits limits = limits_from(options, cancel);
  std::shared_ptr<ProgressCall> call;
  if (!progress.is_none()) call = std::make_shared<ProgressCall>(progress, cancel);
  auto made = run_interruptibly<service::CompileResult>(
      [session, from, limits, call] {
        const aot::Limited limited(limits);
        service::Progress report;
        if (call) report = [&](std::string_view stage, size_t done, size_t total) { (*call)(stage, done, total); };
        return session->make(from->request, report);
      },
      cancel);
  rethrow_signals();
  if (call) call->rethrow();
  return unwrap(std::move(made));
}

/// Ends what is compiled in the background.
const std::shared_ptr<std::atomic<bool>>& background_ends() {
  static const auto* const flag = new auto(std::make_shared<std::atomic<bool>>(false));
  return *flag;
}

/// The kernel has code, so what takes much longer than that is not worth it.
constexpr std::chrono::seconds kMostBackground{120};

service::CompileResult cpu_code(const std::shared_ptr<Session>& session, const py::object& file,
                                const std::string& name, const std::string& level, unsigned checks,
                                const std::optional<std::string>& effort, const std::optional<std::string>& sandbox,
                                const std::optional<double>& timeout, bool background) {
  const auto borrowed = BorrowedBuffer::from(file, name);
  const aot::CpuLevel of = unwrap(aot::parse_cpu_level(level));
  const aot::CpuEffort with = effort_from(effort);
  const Checks checked = Checks::from_bits(checks);
  std::optional<service::Sandbox> mode;
  if (sandbox) mode = unwrap(service::parse_sandbox(*sandbox));
  // What the store has needs no thread.
  auto found = [&] {
    const GilReleased released;
    return session->find_cpu_code(borrowed->bytes(), name, of, checked, with);
  }();
  if (auto hit = unwrap(std::move(found))) return std::move(*hit);
  const auto cancel = background ? background_ends() : std::make_shared<std::atomic<bool>>(false);
  aot::Limits limits = limits_from(timeout);
  if (background) limits.time = kMostBackground;
  limits.cancel = cancel;
  auto made = run_interruptibly<service::CompileResult>(
      [session, borrowed, name, of, checked, with, mode, limits] {
        const aot::Limited limited(limits);
        return session->cpu_code(borrowed->bytes(), name, of, checked, {}, with, mode);
      },
      cancel);
  rethrow_signals();
  return unwrap(std::move(made));
}

py::tuple version_tuple(const aot::Version& version) {
  return py::make_tuple(version.major, version.minor, version.patch);
}

py::dict target_facts(const std::string& name) {
  const aot::Target target = unwrap(aot::parse_target(name));
  return py::dict("name"_a = target.name, "platform"_a = std::string(target_word(target.platform)),
                  "os"_a = version_tuple(target.os), "metal"_a = version_tuple(target.language),
                  "air"_a = version_tuple(target.air));
}

/// The two keys of a request, in hex.
py::tuple keys_of(const std::vector<std::pair<std::string, py::object>>& sources, const py::dict& options) {
  const RequestFrom from = request_from(sources, options);
  auto found = [&] {
    const GilReleased released;
    return service::keys_of(from.request);
  }();
  const service::RequestKeys keys = unwrap(std::move(found));
  return py::make_tuple(to_hex(keys.raw), to_hex(keys.normalised));
}

}  // namespace

PYBIND11_MODULE(_compiler, module) {
  if (smelt_compiler_trouble != nullptr)
    if (const char* const trouble = smelt_compiler_trouble()) throw py::import_error(trouble);
  // Sessions live as long as the process: what they still have to send goes now.
  py::module_::import("atexit").attr("register")(py::cpp_function([] {
    background_ends()->store(true);
    const GilReleased released;
    end_works();
    remote::end_all();
  }));
  module.doc() = "The compiler of smelt. Use smelt.compile and smelt.compile_shader.";
  bind_memory(module);
  py::class_<service::CompileResult>(module, "CompileResult", py::module_local())
      .def("view", [](const service::CompileResult& made) { return memory_over(made.package, made.owner); })
      .def_property_readonly("key", [](const service::CompileResult& made) { return to_hex(made.key); })
      .def_readonly("hit", &service::CompileResult::hit)
      .def_property_readonly(
          "kernels_kept",
          [](const service::CompileResult& made) { return py::make_tuple(made.kernels_kept, made.kernels); })
      .def_property_readonly("microseconds", [](const service::CompileResult& made) { return made.took.count(); })
      .def_readonly("warnings", &service::CompileResult::warnings);
  py::class_<Session, std::shared_ptr<Session>>(module, "Session", py::module_local())
      .def(py::init(&open_session), "store"_a = "", py::kw_only(), "use_store"_a = true, "offline"_a = false,
           "read_only"_a = false, "threads"_a = 0, "warn"_a = py::none(), "remotes"_a = py::none())
      .def("make", &make, "sources"_a, "options"_a, "progress"_a = py::none())
      .def("cpu_code", &cpu_code, "metallib"_a, "name"_a, "level"_a, "checked"_a, "effort"_a = py::none(),
           py::kw_only(), "sandbox"_a = py::none(), "timeout"_a = py::none(), "background"_a = false);
  module.attr("newest_target") = aot::newest_target().name;
  module.def("end_background", [] { background_ends()->store(true); });
  module.def("target_facts", &target_facts);
  module.def("keys_of", &keys_of, "sources"_a, "options"_a);
}

}  // namespace smelt::python
