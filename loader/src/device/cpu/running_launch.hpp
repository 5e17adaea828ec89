// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a thread says that it is in a launch. It costs the launch a few stores.
#pragma once

#include "smelt/loader/running_launch.hpp"
#include "smelt/schema/cpu_abi.h"

namespace smelt::loader {

class RunningLaunchOfThread final : public RunningLaunch {
 public:
  static RunningLaunchOfThread& get();

  /// From its construction to its destruction a launch of this thread is under way. A launch within another (by what a
  /// kernel's log calls) is not told of.
  class Scope {
   public:
    Scope(const PipelineState& pipeline, const smelt_cpu_dispatch& dispatch)
        : thread_(get()), is_outer_(!thread_.active()) {
      record() = {};
      if (!is_outer_) return;
      thread_.dispatch_.store(&dispatch, std::memory_order_relaxed);
      thread_.count_.store(thread_.count() + 1, std::memory_order_relaxed);
      thread_.pipeline_.store(&pipeline, std::memory_order_release);
    }
    ~Scope() {
      if (is_outer_) thread_.pipeline_.store(nullptr, std::memory_order_release);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    /// Where the launch's code reports faults, and looks whether it is to end. It outlives the launch, so that who asks
    /// too late writes to nothing else.
    smelt_cpu_fault& record() { return is_outer_ ? thread_.record_ : own_; }

   private:
    RunningLaunchOfThread& thread_;
    const bool is_outer_;
    smelt_cpu_fault own_;
  };

  /// The same on a thread that helps with a launch of another one, for reports of crashes.
  class Help {
   public:
    Help(const PipelineState& pipeline, const smelt_cpu_dispatch& dispatch) : thread_(get()) {
      thread_.dispatch_.store(&dispatch, std::memory_order_relaxed);
      thread_.pipeline_.store(&pipeline, std::memory_order_release);
    }
    ~Help() { thread_.pipeline_.store(nullptr, std::memory_order_release); }
    Help(const Help&) = delete;
    Help& operator=(const Help&) = delete;

   private:
    RunningLaunchOfThread& thread_;
  };

 private:
  friend class RunningLaunch;
  std::atomic<const smelt_cpu_dispatch*> dispatch_{nullptr};
  smelt_cpu_fault record_{};
};

}  // namespace smelt::loader
