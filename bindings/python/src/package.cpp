// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packages and the files they lie in: what loading needs, and nothing of how they are made.
#include "smelt/schema/package.hpp"

#include "smelt/base/files.hpp"
#include "smelt/loader/library.hpp"

#include "buffers.hpp"
#include "code_source.hpp"
#include "errors.hpp"
#include "gil.hpp"
#include "kernel.hpp"
#include "load_options.hpp"

#include <pybind11/stl.h>

#include <optional>

namespace smelt::python {
namespace {

using namespace pybind11::literals;

/// An opened package.
class Package {
 public:
  Package(loader::OwnedBytes bytes, loader::PackageRef package, schema::Package manifest)
      : bytes_(std::move(bytes)), package_(std::move(package)), manifest_(manifest) {}

  static Result<std::shared_ptr<Package>> open(loader::OwnedBytes bytes) {
    SMELT_TRY(auto package, loader::Package::open(bytes));
    SMELT_TRY(const auto manifest, schema::Package::open(bytes.bytes));
    return std::make_shared<Package>(std::move(bytes), std::move(package), manifest);
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

  std::vector<std::string> missing_cpu_code() const {
    std::vector<std::string> lines;
    for (const loader::MissingKernel& missing : package_->missing_cpu_code()) lines.push_back(missing.text());
    return lines;
  }

  py::bytes metallib(const std::string& target, const std::optional<std::string>& library_name) const {
    return to_python(unwrap(package_->metallib(library(library_name).name, target)));
  }

  const loader::OwnedBytes& bytes() const { return bytes_; }
  const loader::PackageRef& ref() const { return package_; }
  const schema::Package& manifest() const { return manifest_; }

 private:
  loader::OwnedBytes bytes_;
  loader::PackageRef package_;
  schema::Package manifest_;
};

using PackageObject = std::shared_ptr<Package>;

/// `path`, when it is not empty, is where the bytes come from: errors begin with it.
PackageObject open_package(const py::object& source, const std::string& path) {
  auto borrowed = BorrowedBuffer::from(source, "package");
  auto opened = [&]() -> Result<PackageObject> {
    const GilReleased released;
    return Package::open({borrowed->bytes(), borrowed});
  }();
  if (!opened && !path.empty()) raise(std::move(opened).error().in(path));
  return unwrap(std::move(opened));
}

/// A file's bytes, mapped and not read; `what` is for the message when `file` is no path.
py::object map_file(const py::object& file, const std::string& what) {
  const std::string path = path_text(file, what);
  auto mapped = [&] {
    const GilReleased released;
    return MappedFile::open(path);
  }();
  const std::shared_ptr<const MappedFile> whole = unwrap(std::move(mapped));
  return memory_over(whole->bytes(), whole);
}

/// What `smelt pack` does.
PackageObject pack(const std::vector<PackageObject>& packages) {
  auto packed = [&]() -> Result<PackageObject> {
    const GilReleased released;
    std::vector<schema::Package> manifests;
    for (const PackageObject& package : packages) manifests.push_back(package->manifest());
    SMELT_TRY(const std::vector<schema::Library> merged, schema::merge_packages(manifests));
    SMELT_TRY(Bytes bytes, schema::write_package(merged));
    auto owner = std::make_shared<const Bytes>(std::move(bytes));
    return Package::open({*owner, owner});
  }();
  return unwrap(std::move(packed));
}

py::object load(const py::object& source, const loader::DeviceRef& device, const py::dict& options, bool as_upstream,
                const std::string& path, const py::object& code) {
  loader::LoadOptions with = load_options(options);
  if (!code.is_none()) with.code_source = code_source(code, with.checked);
  auto borrowed = BorrowedBuffer::from(source, "library");
  auto loaded = [&] {
    const GilReleased released;
    return loader::Library::load(device, loader::OwnedBytes{borrowed->bytes(), borrowed}, with);
  }();
  if (!loaded && !path.empty()) raise(std::move(loaded).error().in(path));
  return library_object(unwrap(std::move(loaded)), {borrowed->bytes(), borrowed}, as_upstream, code);
}

py::object load_package(const Package& package, const loader::DeviceRef& device, const py::dict& options,
                        bool as_upstream) {
  const loader::LoadOptions with = load_options(options);
  auto loaded = [&] {
    const GilReleased released;
    return loader::Library::load(device, package.ref(), with);
  }();
  return library_object(unwrap(std::move(loaded)), package.bytes(), as_upstream);
}

/// A check of bytes by themselves, whose errors begin with `path` when it is not empty.
void bind_check(py::module_& module, const char* name, Result<void> (*check)(ByteView, const loader::LoadOptions&)) {
  module.def(
      name,
      [check](const py::object& source, const py::dict& options, const std::string& path) {
        auto checked = check(BorrowedBuffer::from(source, "library")->bytes(), load_options(options));
        if (!checked && !path.empty()) raise(std::move(checked).error().in(path));
        unwrap(std::move(checked));
      },
      "source"_a, "options"_a, "path"_a = "");
}

}  // namespace

void bind_package(py::module_& module) {
  py::class_<Package, PackageObject>(module, "Package")
      .def(py::init(&open_package), "source"_a, "path"_a = "")
      .def("names", &Package::names)
      .def("functions", &Package::functions, "library"_a = py::none())
      .def("slices", &Package::slices)
      .def("missing_cpu_code", &Package::missing_cpu_code)
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
               const GilReleased released;
               return write_file(to, package.bytes().bytes);
             }();
             unwrap(std::move(written));
           })
      .def_property_readonly("digest", [](const Package& package) { return to_hex(package.ref()->digest()); });
  module.def("load", &load, "source"_a, "device"_a, "options"_a, "as_upstream"_a = false, "path"_a = "",
             "code"_a = py::none());
  bind_check(module, "check_expected", &loader::check_expected);
  bind_check(module, "check_signature", &loader::check_signature);
  module.def("pack", &pack, "packages"_a);
  module.def("map_file", &map_file, "path"_a, "what"_a);
  module.def("is_metallib", [](const py::object& source) {
    const ByteView bytes = BorrowedBuffer::from(source, "library")->bytes();
    return bytes.size() >= 4 && as_text(bytes.first(4)) == "MTLB";
  });
}

}  // namespace smelt::python
