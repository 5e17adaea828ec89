// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Libraries and devices. A library has no public attribute but its kernels, so that a kernel may have any name; what
// else there is to know about one are functions of this module.
#include "smelt/loader/library.hpp"

#include "buffers.hpp"
#include "code_source.hpp"
#include "docstrings.hpp"
#include "errors.hpp"
#include "gil.hpp"
#include "kernel.hpp"
#include "load_options.hpp"
#include "option.hpp"

#include <pybind11/stl.h>

#include <optional>
#include <unordered_map>

namespace smelt::python {
namespace {

using namespace pybind11::literals;
using loader::LibraryRef;

bool is_dunder(std::string_view name) {
  return name.size() > 4 && name.substr(0, 2) == "__" && name.substr(name.size() - 2) == "__";
}

class Library {
 public:
  Library(LibraryRef library, loader::OwnedBytes file, bool as_upstream, py::object code)
      : library_(std::move(library)), file_(std::move(file)), as_upstream_(as_upstream), code_(std::move(code)) {}

  /// The same handle for the same name, always: pipelines are built at the first reading.
  py::object kernel(const std::string& name) {
    if (const auto found = kernels_.find(name); found != kernels_.end()) return found->second;
    const py::object made = build(name, {});
    return kernels_.emplace(name, made).first->second;  // another thread may have been first; its handle stays
  }

  py::object build(const std::string& name, const loader::ConstantValues& constants) const {
    SourceErrors errors;
    const auto built = [&]() -> Result<std::pair<loader::FunctionRef, loader::PipelineRef>> {
      const GilReleased released;
      SMELT_TRY(const auto named, library_->function(name));
      SMELT_TRY(auto function, named->with_code());
      SMELT_TRY(auto pipeline, function->pipeline(constants));
      return std::pair(std::move(function), std::move(pipeline));
    }();
    errors.rethrow();
    if (!built) raise(built.error());
    return py::cast(std::make_shared<Kernel>(built->first, built->second, as_upstream_));
  }

  const LibraryRef& ref() const { return library_; }
  /// What it was loaded from.
  const loader::OwnedBytes& file() const { return file_; }
  const py::object& code() const { return code_; }

 private:
  LibraryRef library_;
  loader::OwnedBytes file_;
  bool as_upstream_;
  py::object code_;
  std::unordered_map<std::string, py::object> kernels_;
};

loader::Scalar scalar_from(py::handle value) {
  if (PyBool_Check(value.ptr()) != 0) return value.ptr() == Py_True;
  if (PyFloat_Check(value.ptr()) != 0) return PyFloat_AS_DOUBLE(value.ptr());
  if (PyLong_Check(value.ptr()) != 0) {
    int overflow = 0;
    const long long small = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow == 0) return static_cast<int64_t>(small);
    const unsigned long long large = PyLong_AsUnsignedLongLong(value.ptr());
    if (PyErr_Occurred() == nullptr) return static_cast<uint64_t>(large);
    PyErr_Clear();
  }
  raise(Errc::constant_type, "function constant: want a bool, int or float of at most 64 bits, got {}",
        py::cast<std::string>(py::repr(value)));
}

loader::ConstantValues constants_from(const py::dict& from) {
  loader::ConstantValues values;
  for (const auto& [key, value] : from) {
    loader::ConstantValue constant;
    if (PyUnicode_Check(key.ptr()) != 0)
      constant.key = py::cast<std::string>(key);
    else if (PyLong_Check(key.ptr()) != 0)
      constant.key = py::cast<uint32_t>(key);
    else
      raise(Errc::constant_unknown, "function constants are given by name or index; got {}", type_name(key));
    if (PyList_Check(value.ptr()) != 0 || PyTuple_Check(value.ptr()) != 0)
      for (const py::handle component : py::reinterpret_borrow<py::sequence>(value))
        constant.components.push_back(scalar_from(component));
    else
      constant.components.push_back(scalar_from(value));
    values.add(std::move(constant));
  }
  return values;
}

py::object specialize(const Library& library, const std::string& name, const py::dict& constants) {
  return library.build(name, constants_from(constants));
}

/// `work(report)` without the GIL, where `report(done, total)` calls `progress`; what that throws is thrown on.
template <class Work>
size_t with_progress(const py::object& progress, Work&& work) {
  std::optional<py::error_already_set> thrown;
  std::function<bool(size_t, size_t)> report;
  if (!progress.is_none())
    report = [&](size_t done, size_t total) {
      const GilTaken gil;
      try {
        const py::object answer = progress(done, total);
        return !answer.is(py::bool_(false));
      } catch (py::error_already_set& error) {
        thrown.emplace(std::move(error));
        return false;
      }
    };
  SourceErrors errors;
  auto prepared = [&] {
    const GilReleased released;
    return work(report);
  }();
  errors.rethrow();
  if (thrown) throw std::move(*thrown);
  return unwrap(std::move(prepared));
}

size_t prepare(const Library& library, const std::vector<std::string>& names, const py::object& progress) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  return with_progress(progress, [&](const auto& report) { return library.ref()->prepare(views, report); });
}

size_t prepare_all(const std::vector<std::shared_ptr<Library>>& libraries, const py::object& progress) {
  std::vector<LibraryRef> refs;
  for (const auto& library : libraries) refs.push_back(library->ref());
  return with_progress(progress, [&](const auto& report) { return loader::prepare(refs, report); });
}

py::dict info(const Library& library) {
  const loader::Library& of = *library.ref();
  py::list functions, slices;
  for (const std::string_view name : of.function_names()) functions.append(text(name));
  for (const loader::SliceNote& note : of.slice_report().notes)
    slices.append(py::dict("target"_a = note.target, "chosen"_a = note.chosen, "code"_a = text(to_string(note.code)),
                           "line"_a = note.line));
  return py::dict("functions"_a = functions, "target"_a = of.target().name, "digest"_a = to_hex(of.digest()),
                  "name"_a = text(of.name()), "device"_a = text(of.device()->name()), "slices"_a = slices,
                  "slice_report"_a = of.slice_report().text(), "has_reflection"_a = of.has_reflection(),
                  "file"_a = memory_over(library.file().bytes, library.file().owner), "code"_a = library.code());
}

py::dict function_info(const Library& library, const std::string& name) {
  const loader::FunctionRef function = unwrap(library.ref()->function(name));
  const auto usable = function->usable();
  return py::dict("name"_a = text(function->name()), "kind"_a = text(loader::to_string(function->kind())),
                  "metal_version"_a = loader::to_string(function->metal_version()), "usable"_a = usable.has_value(),
                  "reason"_a = usable ? std::string() : usable.error().message);
}

}  // namespace

loader::LoadOptions load_options(const py::dict& from) {
  loader::LoadOptions options;
  std::optional<signing::Level> level;
  std::string trusted_keys;
  for (const auto& [key, value] : from) {
    const auto name = py::cast<std::string>(key);
    if (name == "verify") {
      const auto word = option_as<std::string>(value, name);
      constexpr std::string_view kWords[] = {"none", "structure", "digest", "full"};
      const auto found = std::find(std::begin(kWords), std::end(kWords), word);
      if (found == std::end(kWords))
        raise(Errc::invalid_argument, "verify: '{}'; want none, structure, digest or full", word);
      options.verify = static_cast<loader::Verify>(found - std::begin(kWords));
    } else if (name == "trust") {
      if (!value.is_none()) level = unwrap(signing::parse_level(option_as<std::string>(value, name)));
    } else if (name == "trusted_keys") {
      trusted_keys = option_as<std::string>(value, name);
    } else if (name == "native") {
      options.native = option_as<bool>(value, name);
    } else if (name == "metal") {
      if (value.is_none()) continue;
      const auto [major, minor] = option_as<std::pair<uint16_t, uint16_t>>(value, name);
      options.force_metal = loader::Version{major, minor, 0};
    } else if (name == "replaces") {
      options.replaces = option_as<std::string>(value, name);
    } else if (name == "library") {
      if (!value.is_none()) options.library = option_as<std::string>(value, name);
    } else if (name == "expect") {
      if (!value.is_none()) options.expect = unwrap(digest_from_hex(option_as<std::string>(value, name)));
    } else if (name == "checked") {
      options.checked = Checks::from_bits(option_as<unsigned>(value, name));
    } else if (name == "allow_empty") {
      options.allow_empty = option_as<bool>(value, name);
    }
  }
  if (level || !trusted_keys.empty()) {
    signing::Policy policy = unwrap(signing::Policy::from_environment_for(signing::Origin::named_path, level));
    unwrap(policy.add_words(trusted_keys));
    if (!trusted_keys.empty() && policy.level != signing::Level::signed_only)
      raise(Errc::invalid_argument,
            "trusted_keys needs trust=\"signed\"; trust is '{}', which accepts unsigned packages",
            signing::to_string(policy.level));
    options.policy = std::make_shared<const signing::Policy>(std::move(policy));
  }
  return options;
}

py::object library_object(LibraryRef library, loader::OwnedBytes file, bool as_upstream, py::object code) {
  return py::cast(std::make_shared<Library>(std::move(library), std::move(file), as_upstream, std::move(code)));
}

void bind_library(py::module_& module) {
  const auto itself = [](py::object self) { return self; };
  py::class_<Library, std::shared_ptr<Library>>(module, "Library", kLibrary)
      .def("__getattr__",
           [](Library& library, const std::string& name) {
             // Python asks objects for names of its own all the time; they never reach the library.
             if (is_dunder(name)) throw py::attribute_error(name);
             return library.kernel(name);
           })
      .def("__getitem__", &Library::kernel)
      .def("__contains__",
           [](const Library& library, const std::string& name) { return library.ref()->has_function(name); })
      .def("__dir__",
           [](const Library& library) {
             py::list names;
             for (const std::string_view name : library.ref()->function_names()) names.append(text(name));
             return names;
           })
      .def("__copy__", itself)
      .def("__deepcopy__", [](py::object self, const py::dict&) { return self; })
      .def("__repr__", [](const Library& library) {
        return fmt::format("<smelt library of {} functions for {}>", library.ref()->function_names().size(),
                           library.ref()->target().name);
      });
  module.def("info", &info);
  module.def("function_info", &function_info);
  module.def("specialize", &specialize);
  module.def("prepare", &prepare);
  module.def("prepare_all", &prepare_all);
}

}  // namespace smelt::python
