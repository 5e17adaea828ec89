// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.hpp"

#include "smelt/base/text.hpp"
#include "smelt/loader/crash_report.hpp"
#include "smelt/loader/findings.hpp"
#include "smelt/schema/further_arguments.hpp"

#include "errors.hpp"
#include "interrupts.hpp"
#include "signals.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace smelt::python {
namespace {

using loader::Size3;

uint64_t component_of(py::handle value, std::string_view what) {
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!index) {
    PyErr_Clear();
    raise(Errc::invalid_argument, "{}: want an int or a sequence of 1 to 3 ints, got {}", what, type_name(value));
  }
  const unsigned long long number = PyLong_AsUnsignedLongLong(index.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    raise(Errc::invalid_argument, "{}: {} is not a count of threads", what, py::cast<std::string>(py::str(index)));
  }
  return number;
}

/// What watched threads did is an exception of its own kind, with all that was found. Returns where it was not that.
void raise_of_findings(const Error& error) {
  const auto& findings = loader::last_findings();
  const auto fault = std::find_if(findings.begin(), findings.end(), [](const loader::Finding& finding) {
    return finding.kind != loader::Finding::Kind::same_value;
  });
  if (fault == findings.end() || error.message.find(loader::text_of(*fault)) == std::string::npos) return;
  std::string lines;
  for (const loader::Finding& finding : findings) lines += (lines.empty() ? "[" : ",") + loader::json_of(finding);
  const py::object exception = py::module_::import("smelt.errors")
                                   .attr("from_findings")(text(to_string(fault->kind)), py::str(error.message),
                                                          py::str(error.subject), py::str(lines + "]"));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw py::error_already_set();
}

/// Dispatches and waits, without the GIL.
template <class Dispatch>
void run_and_wait(Dispatch&& dispatch, loader::Encoder& encoder) {
  watch_for_interrupts();
  auto done = [&]() -> Result<void> {
    const GilReleased released;
    SMELT_TRY_VOID(dispatch());
    return encoder.wait();
  }();
  rethrow_signals();
  if (!done && done.error().code == Errc::buffer_bounds) raise_of_findings(done.error());
  unwrap(std::move(done));
}

bool is(py::handle key, const char* name) {
  return PyUnicode_CompareWithASCIIString(key.ptr(), name) == 0;
}

}  // namespace

GridSize parse_size(py::handle value, std::string_view what) {
  GridSize parsed;
  if (PyLong_Check(value.ptr()) != 0 || PySequence_Check(value.ptr()) == 0) {
    parsed.size.x = component_of(value, what);
    parsed.rank = 1;
    return parsed;
  }
  const Py_ssize_t length = PyUnicode_Check(value.ptr()) != 0 ? -1 : PySequence_Size(value.ptr());
  if (length < 1 || length > 3) {
    PyErr_Clear();
    raise(Errc::invalid_argument, "{}: want an int or a sequence of 1 to 3 ints, got {}", what,
          length < 0 ? type_name(value) : fmt::format("{} components", length));
  }
  uint64_t* const components[] = {&parsed.size.x, &parsed.size.y, &parsed.size.z};
  for (Py_ssize_t i = 0; i < length; ++i) {
    const auto item = py::reinterpret_steal<py::object>(PySequence_GetItem(value.ptr(), i));
    if (!item) throw py::error_already_set();
    *components[i] = component_of(item, what);
  }
  parsed.rank = static_cast<int>(length);
  return parsed;
}

Check parse_check(py::handle word) {
  if (PyUnicode_Check(word.ptr()) != 0) {
    if (is(word, "off")) return Check::off;
    if (is(word, "warn")) return Check::warn;
    if (is(word, "error")) return Check::error;
  }
  raise(Errc::invalid_argument, "check: want 'off', 'warn' or 'error', got {}", py::cast<std::string>(py::repr(word)));
}

struct Kernel::Options {
  GridSize threads;
  GridSize threadgroups;
  GridSize group;
  Casts casts;
  Check check = Check::off;
  std::optional<uint32_t> error_buffer;
  std::vector<std::pair<uint32_t, uint64_t>> threadgroup_memory;
  std::vector<std::pair<uint32_t, py::handle>> named;  ///< arguments, by position

  void parse(py::handle options, const Kernel& kernel) {
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t at = 0;
    while (PyDict_Next(options.ptr(), &at, &key, &value) != 0) {
      const bool none = value == Py_None;
      if (is(key, "threads")) {
        if (!none) threads = parse_size(value, "threads");
      } else if (is(key, "threadgroups")) {
        if (!none) threadgroups = parse_size(value, "threadgroups");
      } else if (is(key, "group_size")) {
        if (!none) group = parse_size(value, "group_size");
      } else if (is(key, "arg_casts")) {
        casts.parse(value);
      } else if (is(key, "check")) {
        if (!none) check = parse_check(value);
      } else if (is(key, "error_buf_idx")) {
        if (!none) error_buffer = slot(value, "error_buf_idx");
      } else if (is(key, "threadgroup_memory")) {
        if (!none) parse_threadgroup_memory(value);
      } else {
        named.emplace_back(kernel.index_of(py::cast<std::string>(py::handle(key))), value);
      }
    }
  }

 private:
  static uint32_t slot(py::handle value, std::string_view what) {
    const long index = PyLong_Check(value.ptr()) != 0 ? PyLong_AsLong(value.ptr()) : -1;
    if (index < 0) {
      PyErr_Clear();
      raise(Errc::invalid_argument, "{}: want an index from 0 to 30, got {}", what,
            py::cast<std::string>(py::repr(value)));
    }
    if (index > 30) raise(Errc::buffer_index, "{}: index {} is above 30", what, index);
    return static_cast<uint32_t>(index);
  }

  void parse_threadgroup_memory(py::handle value) {
    if (PyDict_Check(value.ptr()) == 0) {
      threadgroup_memory.emplace_back(0, bytes_of(value));
      return;
    }
    for (const auto& [index, bytes] : py::reinterpret_borrow<py::dict>(value))
      threadgroup_memory.emplace_back(slot(index, "threadgroup_memory"), bytes_of(bytes));
  }

  static uint64_t bytes_of(py::handle value) {
    const unsigned long long bytes = PyLong_Check(value.ptr()) != 0 ? PyLong_AsUnsignedLongLong(value.ptr()) : 0;
    if (PyLong_Check(value.ptr()) == 0 || PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      raise(Errc::invalid_argument, "threadgroup_memory: want bytes (an int), or a dict of them by index; got {}",
            py::cast<std::string>(py::repr(value)));
    }
    return bytes;
  }
};

/// How many threads a call runs, and how they are grouped.
struct Kernel::Grid {
  GridSize threads;  ///< or groups
  std::optional<Size3> group = {};
  bool in_groups = false;

  bool is_empty() const { return threads.size.x == 0 || threads.size.y == 0 || threads.size.z == 0; }
};

/// A launch from the free list, and back.
class Kernel::Borrowed {
 public:
  explicit Borrowed(Kernel& kernel) : kernel_(kernel) {
    if (kernel.free_.empty()) {
      launch_ = std::make_unique<Launch>();
      launch_->encoder = unwrap(loader::Encoder::create(kernel.pipeline_->device()));
      unwrap(launch_->encoder->set_pipeline(kernel.pipeline_));
    } else {
      launch_ = std::move(kernel.free_.back());
      kernel.free_.pop_back();
    }
  }
  ~Borrowed() {
    launch_->arguments.release();
    launch_->textures.release();
    kernel_.free_.push_back(std::move(launch_));
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  Launch& operator*() { return *launch_; }

 private:
  Kernel& kernel_;
  std::unique_ptr<Launch> launch_;
};

Kernel::Kernel(loader::FunctionRef function, loader::PipelineRef pipeline, bool as_upstream)
    : function_(std::move(function)), pipeline_(std::move(pipeline)), as_upstream_(as_upstream) {
  loader::report_crashes(
      "Load with checked=True (compile_shader, load_metallib of a Metal library) to see the thread and the "
      "access.");
  for (const loader::ArgInfo& argument : pipeline_->args()) {
    if (argument.name == schema::kFurtherArguments && argument.index + 1 == declared_.size() &&
        !argument.members.empty()) {
      further_ = argument.members;
      declared_count_ = declared_.size();
      continue;
    }
    const bool is_stage =
        argument.kind == loader::ArgumentKind::stage_input || argument.kind == loader::ArgumentKind::stage_output;
    if (argument.kind == loader::ArgumentKind::indirect_buffer && argument.index < declared_.size() &&
        argument.array_size == 1) {
      // A dict goes by its members; what else is passed is the buffer as it is.
      Parameter& buffer = declared_[argument.index];
      buffer.type_name = argument.type_name;
      buffer.name = argument.name;
      buffer.size = argument.size;
      buffer.members = argument.members;
      declared_count_ = std::max<size_t>(declared_count_, argument.index + 1);
    }
    const bool is_record =
        argument.kind == loader::ArgumentKind::function_table || loader::tensor_element(argument).has_value();
    if ((argument.kind != loader::ArgumentKind::buffer && !is_stage && !is_record) ||
        argument.index >= declared_.size())
      continue;
    declared_[argument.index] = parameter_of(argument);
    declared_count_ = std::max<size_t>(declared_count_, argument.index + argument.array_size);
  }
  for (uint32_t i = 0; i < declared_count_; ++i) {
    declared_[i].position = i;
    if (declared_[i].is_table) declared_[i].library = function_->library().get();
  }
  read_places();
}

void Kernel::read_places() {
  const auto is_image = [](const loader::ArgInfo& argument) {
    return argument.kind == loader::ArgumentKind::texture || argument.kind == loader::ArgumentKind::sampler;
  };
  const std::span<const loader::ArgInfo> arguments = pipeline_->args();
  if (std::ranges::none_of(arguments, is_image)) return;
  for (const loader::ArgInfo& argument : arguments) {
    if (is_image(argument)) places_.push_back({&argument, argument.index});
    if (!takes_buffer(argument)) continue;
    for (uint32_t slot = argument.index; slot < argument.index + argument.array_size; ++slot) {
      if (slot < declared_.size()) declared_[slot].position = static_cast<uint32_t>(places_.size());
      places_.push_back({&argument, slot});
    }
  }
}

std::string_view Kernel::name_at(size_t position) const {
  return places_.empty() ? declared_[position].name : places_[position].argument->name;
}

void Kernel::bind_textures(Launch& launch, py::handle args) const {
  const auto count = static_cast<size_t>(PyTuple_GET_SIZE(args.ptr()));
  if (count > places_.size())
    raise(Errc::argument_mismatch, "kernel '{}' has {} arguments, the call passes {}", pipeline_->name(),
          places_.size(), count);
  for (size_t i = 0; i < count; ++i) {
    PyObject* const value = PyTuple_GET_ITEM(args.ptr(), static_cast<Py_ssize_t>(i));
    if (value != nullptr && !takes_buffer(*places_[i].argument))
      launch.textures.bind(*launch.encoder, *places_[i].argument, value, i);
  }
}

/// By their indexes, with gaps where there is none.
py::object Kernel::buffers_among(py::handle args) const {
  const auto count = static_cast<size_t>(PyTuple_GET_SIZE(args.ptr()));
  size_t last = 0;
  for (size_t i = 0; i < count; ++i)
    if (takes_buffer(*places_[i].argument)) last = std::max<size_t>(last, places_[i].slot + 1);
  py::tuple buffers(last);
  for (size_t i = 0; i < count; ++i) {
    PyObject* const value = PyTuple_GET_ITEM(args.ptr(), static_cast<Py_ssize_t>(i));
    if (value == nullptr || !takes_buffer(*places_[i].argument)) continue;
    PyTuple_SetItem(buffers.ptr(), static_cast<Py_ssize_t>(places_[i].slot),
                    py::reinterpret_borrow<py::object>(value).release().ptr());
  }
  return buffers;
}

void Kernel::call(py::handle args, py::handle options) {
  Options with;
  with.check = as_upstream_ ? Check::off : Check::error;
  if (options) with.parse(options, *this);
  py::object positions;
  if (!with.named.empty()) {
    positions = in_positions(args, with);
    args = positions;
  }
  Borrowed borrowed(*this);
  Launch& launch = *borrowed;
  const auto count = static_cast<size_t>(PyTuple_GET_SIZE(args.ptr()));
  bool leaves_out = !with.named.empty();
  for (size_t i = 0; i < count; ++i) leaves_out |= PyTuple_GET_ITEM(args.ptr(), static_cast<Py_ssize_t>(i)) == Py_None;
  if (count < launch.bound || launch.leftovers || leaves_out) {
    launch.encoder->clear_bindings();  // nothing of an earlier call may stand in for what this one leaves out
    launch.leftovers = false;
  }
  launch.bound = count;
  const std::span<const Parameter> declared = std::span(declared_).first(declared_count_);
  py::object buffers;
  if (!places_.empty()) {
    bind_textures(launch, args);
    buffers = buffers_among(args);
    args = buffers;
  }
  launch.arguments.bind(*launch.encoder, args, with.casts, declared, !as_upstream_, further_);
  ArgumentCheck check(pipeline_->name(), declared, launch.arguments);
  check.run(with.check);
  for (const auto& [index, bytes] : with.threadgroup_memory) {
    unwrap(launch.encoder->set_threadgroup_memory(index, bytes));
    launch.leftovers = true;
  }
  if (with.error_buffer) {
    launch.reports.assign(32768, std::byte{0});
    launch.leftovers = true;
    if (pipeline_->device()->kind() == loader::DeviceKind::cpu)
      unwrap(launch.encoder->set_memory(*with.error_buffer, launch.reports));
    else
      unwrap(launch.encoder->set_bytes(*with.error_buffer, launch.reports));
  }
  const Grid grid = grid_of(launch, with);
  if (!grid.is_empty()) check.want_bytes();
  run_and_wait([&] { return dispatch(launch, grid); }, *launch.encoder);
  launch.arguments.finish();
  if (with.error_buffer) check_reports(launch);
}

uint32_t Kernel::index_of(std::string_view name) const {
  std::string known;
  const size_t positions = places_.empty() ? declared_count_ : places_.size();
  for (size_t i = 0; i < positions; ++i) {
    if (name_at(i).empty()) continue;
    if (name_at(i) == name) return static_cast<uint32_t>(i);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name_at(i));
  }
  throw py::type_error(
      fmt::format("kernel '{}' has no argument '{}'; it takes {} by position or name, and threads, threadgroups, "
                  "group_size, arg_casts, error_buf_idx, threadgroup_memory and check by name",
                  pipeline_->name(), name, known.empty() ? "its buffers" : known));
}

/// The arguments by position, with a gap for each that is not passed.
py::object Kernel::in_positions(py::handle args, const Options& options) const {
  const auto count = static_cast<size_t>(PyTuple_GET_SIZE(args.ptr()));
  size_t all = count;
  for (const auto& [index, value] : options.named) all = std::max<size_t>(all, index + 1);
  py::tuple positions(all);
  const auto put = [&](size_t at, py::handle value) {
    PyTuple_SetItem(positions.ptr(), static_cast<Py_ssize_t>(at), value.inc_ref().ptr());
  };
  for (size_t i = 0; i < count; ++i) put(i, PyTuple_GET_ITEM(args.ptr(), static_cast<Py_ssize_t>(i)));
  for (const auto& [index, value] : options.named) {
    if (index < count)
      throw py::type_error(fmt::format("kernel '{}' got argument {} '{}' by position and by name", pipeline_->name(),
                                       index, name_at(index)));
    put(index, value);
  }
  return positions;
}

Kernel::Grid Kernel::grid_of(const Launch& launch, const Options& options) const {
  if (options.threadgroups.rank != 0) return groups_of(options);
  Grid grid{.threads = options.threads};
  if (grid.threads.rank == 0 && !places_.empty()) {
    if (!launch.textures.written())
      raise(Errc::threads_missing,
            "kernel '{}': threads was not given, and it writes to no texture from which to count; pass threads=",
            pipeline_->name());
    grid.threads = *launch.textures.written();
  }
  if (grid.threads.rank == 0) {
    const auto first = launch.arguments.first_grid(pipeline_->name(), std::span(declared_).first(declared_count_),
                                                   pipeline_->grid_rank());
    if (!first)
      raise(Errc::threads_missing,
            "kernel '{}': threads was not given, and no array is passed directly from which to count; pass threads=",
            pipeline_->name());
    grid.threads = *first;
  }
  if (options.group.rank != 0) {
    if (options.group.rank != grid.threads.rank)
      raise(Errc::rank_mismatch, "kernel '{}': threads has {} components, group_size {}; give as many",
            pipeline_->name(), grid.threads.rank, options.group.rank);
    grid.group = options.group.size;
  } else if (as_upstream_ && grid.threads.rank > 1 && !pipeline_->required_group()) {
    grid.group = Size3{pipeline_->max_threads_per_threadgroup(), 1, 1};
  }
  return grid;
}

Kernel::Grid Kernel::groups_of(const Options& options) const {
  const GridSize& groups = options.threadgroups;
  if (options.threads.rank != 0)
    raise(Errc::invalid_argument,
          "kernel '{}': threads and threadgroups are both given; one of them says how large the grid is",
          pipeline_->name());
  const auto required = pipeline_->required_group();
  if (options.group.rank == 0 && !required)
    raise(Errc::invalid_argument,
          "kernel '{}': threadgroups counts groups, so group_size= must say how many threads one has",
          pipeline_->name());
  if (options.group.rank != 0 && options.group.rank != groups.rank)
    raise(Errc::rank_mismatch, "kernel '{}': threadgroups has {} components, group_size {}; give as many",
          pipeline_->name(), groups.rank, options.group.rank);
  return {.threads = groups, .group = options.group.rank != 0 ? options.group.size : *required, .in_groups = true};
}

Result<void> Kernel::dispatch(Launch& launch, const Grid& grid) {
  if (grid.in_groups) return launch.encoder->dispatch_threadgroups(grid.threads.size, *grid.group);
  return launch.encoder->dispatch_threads(grid.threads.size, grid.group, grid.threads.rank);
}

// What PyTorch's kernels report: a count, then up to 30 records of 512 bytes: file[128], function[128], text[250],
// line.
void Kernel::check_reports(const Launch& launch) const {
  uint32_t count = 0;
  std::memcpy(&count, launch.reports.data(), sizeof count);
  if (count == 0) return;
  const auto text = [&](size_t at, size_t size) {
    const char* const begin = reinterpret_cast<const char*>(launch.reports.data()) + at;
    return std::string(begin, strnlen(begin, size));
  };
  uint32_t line = 0;
  std::memcpy(&line, launch.reports.data() + 4 + 508, sizeof line);
  const py::object from_code = py::module_::import("smelt.errors").attr("from_code");
  const py::object exception = from_code(
      "kernel_reported", fmt::format("kernel '{}' reported {} errors; the first, at {}:{} in {}: {}", pipeline_->name(),
                                     count, text(4, 128), line, text(132, 128), text(260, 250)));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw py::error_already_set();
}

namespace {

/// Straight from the interpreter: the call of a kernel is measured in hundreds of nanoseconds, as is pybind11's own
/// dispatch of *args and **kwargs.
PyObject* call_kernel(PyObject* self, PyObject* args, PyObject* options) {
  try {
    auto& kernel = py::cast<Kernel&>(py::handle(self));
    if (kernel.function().kind() != loader::FunctionKind::kernel) {
      const py::object call = py::module_::import("smelt._stages").attr("call");
      const py::object named = options != nullptr ? py::reinterpret_borrow<py::object>(options) : py::dict();
      return call(py::handle(self), py::handle(args), named).release().ptr();
    }
    kernel.call(args, options);
    return py::none().release().ptr();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::builtin_exception& error) {
    error.set_error();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

}  // namespace

void bind_kernel(py::module_& module) {
  using loader::ArgInfo;
  using loader::ConstantInfo;
  const auto text = [](std::string_view view) { return py::str(view.data(), view.size()); };

  const auto limit = [](const Kernel& kernel) { return kernel.pipeline().max_threads_per_threadgroup(); };
  const auto memory = [](const Kernel& kernel) { return kernel.pipeline().static_threadgroup_memory_length(); };
  py::class_<Kernel, std::shared_ptr<Kernel>> kernel(module, "Kernel");
  kernel.def_property_readonly("max_threads_per_threadgroup", limit)
      .def_property_readonly("max_total_threads_per_threadgroup", limit)
      .def_property_readonly("static_thread_group_memory_length", memory)
      .def_property_readonly("static_threadgroup_memory_length", memory)
      .def_property_readonly("thread_execution_width",
                             [](const Kernel& self) { return self.pipeline().thread_execution_width(); })
      .def_property_readonly("limits_estimated", [](const Kernel& self) { return self.pipeline().limits_estimated(); })
      .def_property_readonly("name", [](const Kernel& self) { return self.pipeline().name(); })
      .def_property_readonly("kind",
                             [text](const Kernel& self) { return text(loader::to_string(self.function().kind())); })
      .def_property_readonly("effort",
                             [text](const Kernel& self) -> py::object {
                               const std::string_view effort = self.pipeline().effort();
                               if (effort.empty()) return py::none();
                               return text(effort);
                             })
      .def_property_readonly(
          "args",
          [text](const Kernel& self) {
            py::list list;
            for (const ArgInfo& arg : self.function().args()) {
              using namespace pybind11::literals;
              list.append(
                  py::dict("name"_a = text(arg.name), "type_name"_a = text(arg.type_name), "index"_a = arg.index,
                           "parameter"_a = arg.parameter, "kind"_a = text(loader::to_string(arg.kind)),
                           "address_space"_a = arg.address_space, "size"_a = arg.size, "align"_a = arg.align,
                           "array_size"_a = arg.array_size, "unused"_a = arg.unused,
                           "writes"_a = arg.access == loader::Access::write || arg.access == loader::Access::read_write,
                           "conditional"_a = arg.conditional));
            }
            return list;
          })
      .def_property_readonly(
          "constants",
          [text](const Kernel& self) {
            py::list list;
            for (const ConstantInfo& constant : self.function().constants()) {
              using namespace pybind11::literals;
              list.append(py::dict("name"_a = text(constant.name), "type_name"_a = text(constant.type_name),
                                   "index"_a = constant.index, "required"_a = constant.required));
            }
            return list;
          })
      .def_property_readonly(
          "__signature__",
          [](py::object self) { return py::module_::import("smelt._signature").attr("signature")(self); })
      .def_property_readonly(
          "__doc__",
          [](py::object self) { return py::module_::import("smelt._signature").attr("documentation")(self); })
      .def("_run", [](Kernel& self, const py::args& args, const py::kwargs& options) { self.call(args, options); })
      .def("__repr__",
           [](const Kernel& self) { return fmt::format("<smelt.Kernel '{}'>", printable(self.pipeline().name())); })
      .def(
          "__call__", [](Kernel& self, const py::args& args, const py::kwargs& options) { self.call(args, options); },
          "kernel(*args, threads=None, threadgroups=None, group_size=None, arg_casts=None, error_buf_idx=None, "
          "threadgroup_memory=None, "
          "check=None)");
  reinterpret_cast<PyTypeObject*>(kernel.ptr())->tp_call = call_kernel;
}

}  // namespace smelt::python
