// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "code_source.hpp"

#include "smelt/base/background.hpp"
#include "smelt/loader/library.hpp"

#include "buffers.hpp"
#include "errors.hpp"
#include "gil.hpp"

namespace smelt::python {
namespace {

using namespace pybind11::literals;

/// May be dropped from any thread, also when the interpreter is gone.
using Shared = std::shared_ptr<const py::object>;
Shared share(py::object object) {
  return {new py::object(std::move(object)), [](const py::object* held) {
            if (interpreter_ends()) return;  // left behind
            const GilTaken gil;
            delete held;
          }};
}

Errc code_from(const std::string& name) {
#define SMELT_ERRC(errc, c_name, number) \
  if (name == #errc) return Errc::errc;
#include "smelt/base/errc.def"
#undef SMELT_ERRC
  return Errc::pipeline_failed;
}

Error error_from(const py::error_already_set& thrown) {
  if (thrown.matches(PyExc_KeyboardInterrupt)) return {Errc::cancelled, "interrupted", {}};
  const py::object& value = thrown.value();
  Error error{Errc::pipeline_failed, py::cast<std::string>(py::str(value)), {}};
  if (py::hasattr(value, "code") && py::isinstance<py::str>(value.attr("code")))
    error.code = code_from(py::cast<std::string>(value.attr("code")));
  return error;
}

/// A pipeline that runs often, for whoever makes its better code.
class RunningPipeline {
 public:
  RunningPipeline(loader::PipelineRef pipeline, Checks checked) : pipeline_(std::move(pipeline)), checked_(checked) {}

  void replace(const py::object& package, const std::string& effort) const {
    auto borrowed = BorrowedBuffer::from(package, "package");
    auto replaced = [&]() -> Result<void> {
      const GilReleased released;
      loader::LoadOptions options;
      options.policy = signing::Policy::all();  // made here
      options.checked = checked_;
      const loader::OwnedBytes bytes{borrowed->bytes(), borrowed};
      SMELT_TRY(const loader::LibraryRef library, loader::Library::load(pipeline_->device(), bytes, options));
      return loader::replace_code(*pipeline_, *library, effort);
    }();
    unwrap(std::move(replaced));
  }

 private:
  loader::PipelineRef pipeline_;
  Checks checked_;
};

/// A kernel that ran often.
struct Often {
  Shared source;
  loader::PipelineRef pipeline;
  std::string name;
  loader::OwnedBytes metallib;
  Checks checked;
};

/// In the background.
void improve(const Often& kernel) {
  if (interpreter_ends()) return;
  const GilTaken gil;
  mark_waited_for();
  try {
    kernel.source->attr("improve")(RunningPipeline(kernel.pipeline, kernel.checked), kernel.name,
                                   memory_over(kernel.metallib.bytes, kernel.metallib.owner));
  } catch (py::error_already_set& error) {
    loader::tell_kept(*kernel.pipeline, error_from(error).message);
  }
}

class PythonCode final : public loader::CodeSource {
 public:
  PythonCode(py::object source, Checks checked) : source_(share(std::move(source))), checked_(checked) {}

  Result<loader::KernelCode> code_for(std::string_view kernel, const loader::OwnedBytes& metallib) override {
    const GilTaken gil;
    try {
      const py::tuple given = source_->attr("code")(text(kernel), memory_over(metallib.bytes, metallib.owner));
      const auto package = BorrowedBuffer::from(given[0], kernel);
      auto tier = std::make_shared<loader::CodeTier>();
      tier->effort = py::cast<std::string>(given[1]);
      if (py::cast<bool>(given[2])) {
        tier->better_after = loader::worth_after(package->bytes().size());
        tier->better = [source = source_, name = std::string(kernel), metallib,
                        checked = checked_](const loader::PipelineRef& pipeline) {
          // Nothing of Python here: a launch may run without the GIL, and with an exception waiting.
          Background::of_process().add(
              [kernel = Often{source, pipeline, name, metallib, checked}] { improve(kernel); });
        };
      }
      return loader::KernelCode{{package->bytes(), package}, std::move(tier)};
    } catch (py::error_already_set& thrown) {
      Error error = error_from(thrown);
      SourceErrors::keep(std::move(thrown));
      return tl::unexpected(std::move(error));
    }
  }

 private:
  const Shared source_;
  const Checks checked_;
};

thread_local SourceErrors* innermost = nullptr;

}  // namespace

std::shared_ptr<loader::CodeSource> code_source(py::object source, Checks checked) {
  return std::make_shared<PythonCode>(std::move(source), checked);
}

SourceErrors::SourceErrors() : outer_(innermost) {
  innermost = this;
}
SourceErrors::~SourceErrors() {
  innermost = outer_;
}
void SourceErrors::rethrow() {
  if (thrown_) throw std::move(*thrown_);
}
void SourceErrors::keep(py::error_already_set&& error) {
  if (innermost != nullptr && !innermost->thrown_) innermost->thrown_.emplace(std::move(error));
}

void bind_code_source(py::module_& module) {
  py::class_<RunningPipeline>(module, "RunningPipeline", py::module_local())
      .def("replace", &RunningPipeline::replace, "package"_a, "effort"_a);
  module.def("end_improving", [] {
    const GilReleased released;
    Background::of_process().end();
  });
}

}  // namespace smelt::python
