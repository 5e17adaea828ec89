// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Real servers for the tests: each on a free port of the loopback address, in a folder of its own, ended with its
// owner. `available()` says which are installed; a test of one that is not says that it skips.
#pragma once

#include "files.hpp"

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

namespace smelt::test {

/// The URL with options that let a machine be slow: for tests of something else.
std::string patient(const std::string& url);
/// A free port: nobody listened there a moment ago.
uint16_t free_port();
/// Path of a program, or empty.
std::string program(const std::string& name);
/// A file of docs/guide/remotes with its example values replaced: the operator's page shows what is tested.
std::string guide_config(const std::string& name, const std::vector<std::pair<std::string, std::string>>& replaced);

/// A child process that serves; killed with its owner.
class Process {
 public:
  explicit Process(const std::vector<std::string>& command, const std::filesystem::path& log);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  void kill();
  /// Until something accepts connections there; throws with the log after a minute.
  void wait_for(uint16_t port) const;

 private:
  pid_t pid_ = -1;
  std::filesystem::path log_;
};

/// An authority of the test's own with a server's and a client's certificate, and one that has expired.
struct Certificates {
  explicit Certificates(const std::filesystem::path& folder);
  std::filesystem::path folder;
  std::string path(const std::string& name) const { return (folder / name).string(); }
};

/// What a test may want of a server; each kind has a class of its own below.
class Server {
 public:
  virtual ~Server() = default;
  /// With which everything is allowed.
  virtual std::string url() const = 0;
  /// Where the server keeps `cas/<hex>` as files; empty when it does not.
  virtual std::filesystem::path folder() const { return {}; }
};

std::unique_ptr<Server> start_folder();
std::unique_ptr<Server> start_nginx();        ///< TLS, HTTP/2, client certificate for writing
std::unique_ptr<Server> start_nginx_plain();  ///< http, bearer token
std::unique_ptr<Server> start_lighttpd();     ///< http, basic authentication
std::unique_ptr<Server> start_redis();        ///< with a password
std::unique_ptr<Server> start_redis_tls();
std::unique_ptr<Server> start_s3rver();

struct ServerKind {
  std::string name;
  std::unique_ptr<Server> (*start)();
};
/// Those that can be started here.
std::vector<ServerKind> server_kinds();

/// A Redis whose ports and settings the test chooses itself, and which it may stop and start.
class Redis : public Server {
 public:
  explicit Redis(std::vector<std::string> settings = {}, uint16_t port = 0);
  std::string url() const override;
  uint16_t port() const { return port_; }
  void stop();
  void start();

 private:
  TemporaryFolder folder_;
  std::vector<std::string> settings_;
  uint16_t port_;
  std::unique_ptr<Process> process_;
};

}  // namespace smelt::test
