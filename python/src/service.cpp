// Compiling, packages, and loading through the store.
#include "smelt/base/files.hpp"
#include "smelt/schema/package.hpp"
#include "smelt/service/session.hpp"

#include "buffers.hpp"
#include "errors.hpp"
#include "kernel.hpp"
#include "load_options.hpp"

#include <pybind11/stl.h>

namespace smelt::python {
namespace {

using namespace pybind11::literals;
using service::Session;

py::str text(std::string_view view) {
  return py::str(view.data(), view.size());
}

/// An opened package, and how it came to be when it was compiled here.
class Package {
 public:
  Package(loader::OwnedBytes bytes, loader::PackageRef package, schema::Package manifest)
      : bytes_(std::move(bytes)), package_(std::move(package)), manifest_(manifest) {}

  static Result<std::shared_ptr<Package>> open(loader::OwnedBytes bytes) {
    SMELT_TRY(auto package, loader::Package::open(bytes));
    SMELT_TRY(const auto manifest, schema::Package::open(bytes.bytes));
    return std::make_shared<Package>(std::move(bytes), std::move(package), manifest);
  }

  static Result<std::shared_ptr<Package>> from(service::Made made) {
    SMELT_TRY(auto package, open({made.package, made.owner}));
    package->key_ = made.key;
    package->hit_ = made.hit;
    package->took_ = made.took;
    package->kernels_ = made.kernels;
    package->kernels_kept_ = made.kernels_kept;
    package->warnings_ = std::move(made.warnings);
    return package;
  }

  /// The named library, or the only one.
  schema::LibraryView library(const std::optional<std::string>& name) const {
    if (name) {
      const auto index = manifest_.find_library(*name);
      if (!index)
        raise(Errc::invalid_argument, "the package has no library '{}'; it has {}", *name, fmt::join(names(), ", "));
      return manifest_.library(*index);
    }
    if (manifest_.library_count() != 1)
      raise(Errc::invalid_argument, "the package has {} libraries ({}); say which: library=", manifest_.library_count(),
            fmt::join(names(), ", "));
    return manifest_.library(0);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (uint32_t i = 0; i < manifest_.library_count(); ++i) names.emplace_back(manifest_.library(i).name);
    return names;
  }

  std::vector<std::string> functions(const std::optional<std::string>& library_name) const {
    std::vector<std::string> functions;
    const auto add = [&](const schema::LibraryView& library) {
      for (uint32_t i = 0; i < library.functions.count; ++i)
        functions.emplace_back(manifest_.function(library.functions.first + i).name);
    };
    if (library_name)
      add(library(library_name));
    else
      for (uint32_t l = 0; l < manifest_.library_count(); ++l) add(manifest_.library(l));
    return functions;
  }

  py::list slices() const {
    py::list list;
    for (uint32_t l = 0; l < manifest_.library_count(); ++l) {
      const schema::LibraryView library = manifest_.library(l);
      for (uint32_t s = 0; s < library.slices.count; ++s) {
        const schema::SliceView slice = manifest_.slice(library.slices.first + s);
        py::list missing;
        for (uint32_t i = 0; i < library.functions.count; ++i)
          if (const auto presence = manifest_.presence(slice.first_presence + i); presence.missing)
            missing.append(
                py::make_tuple(text(manifest_.function(library.functions.first + i).name), text(presence.reason)));
        list.append(py::dict("library"_a = text(library.name), "target"_a = text(slice.target),
                             "bytes"_a = slice.part.bytes.size(), "sha256"_a = to_hex(slice.part.hash),
                             "missing"_a = missing));
      }
    }
    return list;
  }

  py::bytes metallib(const std::string& target, const std::optional<std::string>& library_name) const {
    return to_python(unwrap(package_->metallib(library(library_name).name, target)));
  }

  const loader::OwnedBytes& bytes() const { return bytes_; }
  const loader::PackageRef& ref() const { return package_; }

  std::optional<Digest> key_;
  bool hit_ = false;
  std::chrono::microseconds took_{};
  size_t kernels_ = 0, kernels_kept_ = 0;
  std::vector<std::string> warnings_;

 private:
  loader::OwnedBytes bytes_;
  loader::PackageRef package_;
  schema::Package manifest_;
};

using PackageObject = std::shared_ptr<Package>;

std::shared_ptr<Package> open_package(const std::string& path) {
  auto opened = [&]() -> Result<PackageObject> {
    const py::gil_scoped_release released;
    SMELT_TRY(const auto file, MappedFile::open(path));
    auto package = Package::open({file->bytes(), file});
    if (!package) return tl::unexpected(std::move(package).error().in(path));
    return package;
  }();
  return unwrap(std::move(opened));
}

/// A progress callback from any thread; what it throws is thrown on once the work has ended.
struct ProgressCall {
  explicit ProgressCall(const py::object& callable) : callable_(callable) {}

  service::Progress function() {
    if (callable_.is_none()) return {};
    return [this](std::string_view stage, size_t done, size_t total) {
      const py::gil_scoped_acquire gil;
      if (thrown_) return;
      try {
        callable_(text(stage), done, total);
      } catch (py::error_already_set& error) {
        thrown_.emplace(std::move(error));
      }
    };
  }
  void rethrow() {
    if (thrown_) throw std::move(*thrown_);
  }

 private:
  const py::object& callable_;
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
  return py::cast<T>(options[name]);
}

bool flag(const py::dict& options, const char* name, bool otherwise = false) {
  return optional_from<bool>(options, name).value_or(otherwise);
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
  with.kernels = optional_from<std::vector<std::string>>(options, "kernels").value_or(std::vector<std::string>());
  with.functions = optional_from<std::vector<std::string>>(options, "functions").value_or(std::vector<std::string>());
  with.include_folders =
      optional_from<std::vector<std::string>>(options, "include_folders").value_or(std::vector<std::string>());
  with.definitions =
      optional_from<std::vector<std::string>>(options, "definitions").value_or(std::vector<std::string>());
  with.threadgroup_memory = optional_from<uint64_t>(options, "threadgroup_memory");
  with.threads_per_threadgroup = optional_from<uint32_t>(options, "threads_per_threadgroup");
  with.metadata_json = optional_from<std::string>(options, "metadata").value_or("");
  with.fast_math = flag(options, "fast_math");
  with.debug_lines = flag(options, "debug_lines");
  with.pack_scalars = flag(options, "pack_scalars");
  with.buffers_do_not_overlap = flag(options, "no_overlap");
  with.relaxed_atomics = flag(options, "relaxed_atomics");
  if (const auto language = optional_from<std::pair<uint16_t, uint16_t>>(options, "language"))
    with.language = aot::Version{language->first, language->second, 0};
  request.cpu = flag(options, "cpu", true);
  request.checked = flag(options, "checked");
  for (const std::string& level :
       optional_from<std::vector<std::string>>(options, "levels").value_or(std::vector<std::string>()))
    request.levels.push_back(unwrap(aot::parse_cpu_level(level)));
  request.name = optional_from<std::string>(options, "name").value_or("");
  request.version = optional_from<std::string>(options, "version").value_or("");
  return from;
}

std::shared_ptr<Session> open_session(const std::string& store, bool use_store, bool offline, bool read_only,
                                      unsigned threads, const py::object& warn) {
  service::SessionOptions options;
  options.store = store;
  options.use_store = use_store;
  options.offline = offline;
  options.read_only = read_only;
  options.threads = threads;
  if (!warn.is_none()) {
    auto* const callable = new py::object(warn);  // sessions live as long as the process, and warn from any thread
    options.warn = [callable](std::string_view line) {
      const py::gil_scoped_acquire gil;
      try {
        (*callable)(text(line));
      } catch (py::error_already_set& error) {
        error.discard_as_unraisable("smelt warning");
      }
    };
  }
  return Session::open(std::move(options));
}

PackageObject make(Session& session, const std::vector<std::pair<std::string, py::object>>& sources,
                   const py::dict& options, const py::object& progress) {
  const RequestFrom from = request_from(sources, options);
  ProgressCall call(progress);
  auto made = [&]() -> Result<PackageObject> {
    const service::Progress report = call.function();
    const py::gil_scoped_release released;
    SMELT_TRY(auto fresh, session.make(from.request, report));
    return Package::from(std::move(fresh));
  }();
  call.rethrow();
  return unwrap(std::move(made));
}

/// `source`: an object with a buffer, or a path as text.
py::object load(Session& session, const py::object& source, const std::string& name, const loader::DeviceRef& device,
                const py::dict& options, bool is_path, bool as_upstream) {
  const loader::LoadOptions with = load_options(options);
  std::shared_ptr<const BorrowedBuffer> borrowed;
  std::string path;
  if (is_path)
    path = path_text(source, "load_metallib");
  else
    borrowed = BorrowedBuffer::from(source, name);
  auto loaded = [&]() -> Result<loader::LibraryRef> {
    const py::gil_scoped_release released;
    loader::OwnedBytes bytes;
    if (is_path) {
      SMELT_TRY(const auto file, MappedFile::open(path));
      bytes = {file->bytes(), file};
    } else {
      bytes = {borrowed->bytes(), std::move(borrowed)};
    }
    const bool is_metallib = bytes.bytes.size() >= 4 && as_text(bytes.bytes.first(4)) == "MTLB";
    auto library =
        is_metallib ? session.load_bytes(bytes.bytes, name, device, with) : loader::Library::load(device, bytes, with);
    if (!library && is_path) return tl::unexpected(std::move(library).error().in(path));
    return library;
  }();
  return library_object(unwrap(std::move(loaded)), as_upstream);
}

py::object load_package(const Package& package, const loader::DeviceRef& device, const py::dict& options,
                        bool as_upstream) {
  const loader::LoadOptions with = load_options(options);
  auto loaded = [&] {
    const py::gil_scoped_release released;
    return loader::Library::load(device, package.ref(), with);
  }();
  return library_object(unwrap(std::move(loaded)), as_upstream);
}

void bind_package(py::module_& module) {
  py::class_<Package, PackageObject>(module, "Package")
      .def_static("open_file", &open_package)
      .def_static("open_bytes",
                  [](const py::object& source) {
                    const auto borrowed = BorrowedBuffer::from(source, "package");
                    return unwrap(Package::open({borrowed->bytes(), borrowed}));
                  })
      .def("names", &Package::names)
      .def("functions", &Package::functions, "library"_a = py::none())
      .def("slices", &Package::slices)
      .def("metallib", &Package::metallib, "target"_a, "library"_a = py::none())
      .def("load", &load_package, "device"_a, "options"_a, "as_upstream"_a = false)
      .def("version",
           [](const Package& package, const std::string& name) { return text(package.library(name).version); })
      .def("attachment_names",
           [](const Package& package, const std::string& name) {
             return package.ref()->attachment_names(package.library(name).name);
           })
      .def("attachment",
           [](const Package& package, const std::string& library, const std::string& name) {
             return to_python(unwrap(package.ref()->attachment(library, name)));
           })
      .def("view", [](const Package& package) { return memory_over(package.bytes().bytes, package.bytes().owner); })
      .def("save",
           [](const Package& package, const py::object& path) {
             const std::string to = path_text(path, "save");
             auto written = [&] {
               const py::gil_scoped_release released;
               return write_file(to, package.bytes().bytes);
             }();
             unwrap(std::move(written));
           })
      .def_property_readonly("digest", [](const Package& package) { return to_hex(package.ref()->digest()); })
      .def_property_readonly("key",
                             [](const Package& package) -> py::object {
                               if (!package.key_) return py::none();
                               return py::str(to_hex(*package.key_));
                             })
      .def_property_readonly("hit", [](const Package& package) { return package.hit_; })
      .def_property_readonly(
          "kernels_kept",
          [](const Package& package) { return py::make_tuple(package.kernels_kept_, package.kernels_); })
      .def_property_readonly("microseconds", [](const Package& package) { return package.took_.count(); })
      .def_property_readonly("warnings", [](const Package& package) { return package.warnings_; });
}

void bind_session(py::module_& module) {
  py::class_<Session, std::shared_ptr<Session>>(module, "Session")
      .def(py::init(&open_session), "store"_a = "", py::kw_only(), "use_store"_a = true, "offline"_a = false,
           "read_only"_a = false, "threads"_a = 0, "warn"_a = py::none())
      .def("make", &make, "sources"_a, "options"_a, "progress"_a = py::none())
      .def("load", &load, "source"_a, "name"_a, "device"_a, "options"_a, "is_path"_a, "as_upstream"_a)
      .def("resolve",
           [](Session& session, const std::string& query, const loader::DeviceRef& device) {
             auto package = [&]() -> Result<PackageObject> {
               const py::gil_scoped_release released;
               SMELT_TRY(auto made, session.resolve(query, device));
               return Package::from(std::move(made));
             }();
             return unwrap(std::move(package));
           })
      .def("export_package",
           [](Session& session, const std::vector<std::string>& names) {
             auto bytes = [&] {
               const py::gil_scoped_release released;
               return session.export_package(names);
             }();
             return to_python(unwrap(std::move(bytes)));
           })
      .def("import_package", [](Session& session, const py::object& source) {
        const auto borrowed = BorrowedBuffer::from(source, "package");
        auto keys = [&] {
          const py::gil_scoped_release released;
          return session.import_package(borrowed->bytes());
        }();
        py::list list;
        for (const Digest& key : unwrap(std::move(keys))) list.append(to_hex(key));
        return list;
      });
}

}  // namespace

void bind_service(py::module_& module) {
  bind_package(module);
  bind_session(module);
  module.def("default_store_folder", [] { return service::default_store_folder().string(); });
  module.def("is_package", [](const py::object& source) {
    return schema::Package::looks_like(BorrowedBuffer::from(source, "package")->bytes());
  });
}

}  // namespace smelt::python
