// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file from anywhere through everything that reads it, as the command does it, in a child, and in this process:
// verify, inspect, disasm, compile, load, and what came out of that, run.
#pragma once

#include "smelt/service/session.hpp"

#include "mutants.hpp"

#include <filesystem>

namespace smelt::test {

/// In memory that a supervising process reads too.
struct Tally {
  uint64_t number = 0;  ///< of the mutant in work
  uint64_t step = 0;    ///< what of it comes next
  bool in_work = false, running = false;
  uint64_t made = 0, libraries = 0, clean = 0, described = 0, disassembled = 0, loaded = 0, with_code = 0, ran = 0;
  uint64_t in_child = 0, ended_at_limit = 0, endless = 0;
  uint64_t commands = 0, reading_children = 0, children_died = 0, faults = 0;
  double slowest = 0;        ///< processor seconds of a call
  uint64_t most_memory = 0;  ///< bytes that a mutant added to the process
  char doing[16] = {};       ///< the call under way
  char finding[200] = {};    ///< what is wrong with the mutant in work
};

struct Bounds {
  double seconds = 20;                  ///< that a load may take; other calls may take as much of the processor
  std::string command;                  ///< the program smelt; empty: none is run
  std::filesystem::path folder;         ///< for files that it reads
  uint64_t memory = uint64_t{2} << 30;  ///< that a load may hold
  double run_seconds = 0.5;             ///< of a launch
};

class Trial {
 public:
  static Result<std::unique_ptr<Trial>> make(const Bounds& bounds);
  /// Goes on with the mutant at tally.step. Sets tally.finding when it did what none may do. False: a fault was
  /// contained, after which this process reads nothing more; another goes on with the rest.
  bool run(const Mutant& mutant, Tally& tally);

 private:
  explicit Trial(const Bounds& bounds) : bounds_(bounds) {}
  template <class Call>
  void timed(std::string_view what, Tally& tally, Call call);
  void read_here(const Mutant& mutant, uint64_t step, Tally& tally);
  void read_in_children(const Mutant& mutant, Tally& tally);
  void run_command(const Mutant& mutant, Tally& tally);
  void load(const Mutant& mutant, Tally& tally);
  void launch(const loader::Library& library, Tally& tally);

  Bounds bounds_;
  std::shared_ptr<service::Session> session_;
  loader::DeviceRef device_;
  std::vector<std::byte> memory_;
  std::string warned_;
};

}  // namespace smelt::test
