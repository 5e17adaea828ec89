// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/background.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

using namespace smelt;
using namespace std::chrono_literals;

TEST_CASE("work is done in order, by one thread that is not the caller's") {
  Background background;
  for (int round = 0; round < 3; ++round) {  // the thread ends in between
    std::vector<int> order;
    std::promise<std::thread::id> last;
    for (int i = 0; i < 100; ++i) background.add([&, i] { order.push_back(i); });
    background.add([&] { last.set_value(std::this_thread::get_id()); });
    CHECK(last.get_future().get() != std::this_thread::get_id());
    REQUIRE(order.size() == 100);
    for (int i = 0; i < 100; ++i) CHECK(order[size_t(i)] == i);
    std::this_thread::sleep_for(2ms);
  }
  background.end();
}

TEST_CASE("the end waits for what is done and drops the rest") {
  Background background;
  std::promise<void> began;
  std::atomic<bool> go{false}, done{false}, dropped{true};
  background.add([&] {
    began.set_value();
    while (!go) std::this_thread::sleep_for(1ms);
    done = true;
  });
  background.add([&] { dropped = false; });
  began.get_future().wait();
  std::thread ends([&] { background.end(); });
  std::this_thread::sleep_for(5ms);
  CHECK_FALSE(done);
  go = true;
  ends.join();
  CHECK(done);
  background.add([&] { dropped = false; });
  std::this_thread::sleep_for(5ms);
  CHECK(dropped);
}

TEST_CASE("a forked child has its own") {
  const auto go = std::make_shared<std::atomic<bool>>(false);  // the work may outlive this function
  Background* const ours = &Background::of_process();
  std::promise<void> began;
  ours->add([&began, go] {
    began.set_value();
    while (!*go) std::this_thread::sleep_for(1ms);
  });
  began.get_future().wait();
  const pid_t child = ::fork();
  if (child == 0) {
    Background& its = Background::of_process();
    std::atomic<bool> ran{false};
    its.add([&] { ran = true; });
    for (int i = 0; i < 5000 && !ran; ++i) std::this_thread::sleep_for(1ms);
    its.end();
    ::_exit(ran && &its != ours ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(&Background::of_process() == ours);
  *go = true;
}
