// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "servers.hpp"

#include "smelt/base/files.hpp"

#include "loopback_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace smelt::test {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  if (!write_file(path, as_bytes(text))) throw std::runtime_error("cannot write " + path.string());
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

void run(const std::string& command) {
  if (std::system((command + " >/dev/null 2>&1").c_str()) != 0) throw std::runtime_error("failed: " + command);
}

/// Node's s3rver, where scripts/setup puts it.
fs::path s3rver() {
  const char* asked = std::getenv("SMELT_S3RVER");
  return asked ? fs::path(asked) : fs::path(SMELT_SOURCE_DIR) / "build/s3rver/node_modules/.bin/s3rver";
}

class Folder : public Server {
 public:
  std::string url() const override { return "file://" + folder_.path().string(); }
  fs::path folder() const override { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

/// nginx with one site; what lies around it is the same for all.
class Nginx : public Server {
 public:
  fs::path folder() const override { return folder_ / "data"; }

 protected:
  void begin(const std::string& site) {
    const std::string base = folder_.path().string();
    write(folder_ / "site.conf", site);
    write(folder_ / "nginx.conf",
          fmt::format("daemon off; master_process off; pid {0}/pid; error_log stderr;\nevents {{}}\nhttp {{\n"
                      "  access_log off; proxy_temp_path {0}/t1; fastcgi_temp_path {0}/t2; uwsgi_temp_path {0}/t3;\n"
                      "  scgi_temp_path {0}/t4; include {0}/site.conf;\n}}\n",
                      base));
    process_ = std::make_unique<Process>(
        std::vector<std::string>{program("nginx"), "-p", base, "-e", "stderr", "-c", base + "/nginx.conf"},
        folder_ / "log");
    process_->wait_for(port_);
  }

  TemporaryFolder folder_;
  uint16_t port_ = free_port();
  std::unique_ptr<Process> process_;
};

class NginxTls : public Nginx {
 public:
  NginxTls() : certificates_(folder_.path()) {
    fs::create_directories(folder_ / "data");
    begin(guide_config("nginx.conf", {{"8443", fmt::format("127.0.0.1:{}", port_)},
                                      {"/srv/smelt", (folder_ / "data").string()},
                                      {"/etc/smelt", folder_.path().string()}}));
  }
  std::string url() const override {
    return fmt::format("https://127.0.0.1:{}?ca-file={}&cert-file={}&key-file={}", port_,
                       certificates_.path("authority.pem"), certificates_.path("client.pem"),
                       certificates_.path("client.key"));
  }

 private:
  Certificates certificates_;
};

class NginxPlain : public Nginx {
 public:
  NginxPlain() {
    fs::create_directories(folder_ / "data");
    write(folder_ / "token", "open sesame\n");
    begin(
        fmt::format("server {{ listen 127.0.0.1:{}; root {}; client_body_temp_path {}; client_max_body_size 256m;\n"
                    "  location /base/ {{ if ($http_authorization != \"Bearer open sesame\") {{ return 401; }}\n"
                    "  dav_methods PUT; create_full_put_path on; }} }}\n",
                    port_, (folder_ / "data").string(), (folder_ / "incoming").string()));
  }
  std::string url() const override {
    return fmt::format("http://127.0.0.1:{}/base?token-file={}", port_, (folder_ / "token").string());
  }
  fs::path folder() const override { return folder_ / "data" / "base"; }
};

class Lighttpd : public Server {
 public:
  Lighttpd() {
    fs::create_directories(folder_ / "data/ac");
    fs::create_directories(folder_ / "data/cas");
    fs::create_directories(folder_ / "data/incoming");
    write(folder_ / "passwords", "ci:secret word\n");
    write(folder_ / "lighttpd.conf", guide_config("lighttpd.conf", {{"8080", std::to_string(port_)},
                                                                    {"/srv/smelt", (folder_ / "data").string()},
                                                                    {"/etc/smelt", folder_.path().string()}}));
    process_ = std::make_unique<Process>(
        std::vector<std::string>{program("lighttpd"), "-D", "-f", (folder_ / "lighttpd.conf").string()},
        folder_ / "log");
    process_->wait_for(port_);
  }
  std::string url() const override { return fmt::format("http://ci:secret%20word@127.0.0.1:{}", port_); }
  fs::path folder() const override { return folder_ / "data"; }

 private:
  TemporaryFolder folder_;
  uint16_t port_ = free_port();
  std::unique_ptr<Process> process_;
};

class RedisWithPassword : public Server {
 public:
  RedisWithPassword() {
    write(folder_ / "redis.conf", guide_config("redis.conf", {{"6379", std::to_string(port_)}, {"4gb", "512mb"}}));
    process_ =
        std::make_unique<Process>(std::vector<std::string>{program("redis-server"), (folder_ / "redis.conf").string(),
                                                           "--dir", folder_.path().string()},
                                  folder_ / "log");
    process_->wait_for(port_);
  }
  std::string url() const override { return fmt::format("redis://:change-me@127.0.0.1:{}/3?ttl=1h", port_); }

 private:
  TemporaryFolder folder_;
  uint16_t port_ = free_port();
  std::unique_ptr<Process> process_;
};

class RedisTls : public Server {
 public:
  RedisTls() : certificates_(folder_.path()) {
    process_ = std::make_unique<Process>(
        std::vector<std::string>{program("redis-server"), "--port", "0", "--tls-port", std::to_string(port_), "--bind",
                                 "127.0.0.1", "--tls-cert-file", certificates_.path("server.pem"), "--tls-key-file",
                                 certificates_.path("server.key"), "--tls-ca-cert-file",
                                 certificates_.path("authority.pem"), "--save", "", "--dir", folder_.path().string()},
        folder_ / "log");
    process_->wait_for(port_);
  }
  std::string url() const override {
    return fmt::format("rediss://127.0.0.1:{}?ca-file={}&cert-file={}&key-file={}", port_,
                       certificates_.path("authority.pem"), certificates_.path("client.pem"),
                       certificates_.path("client.key"));
  }

 private:
  TemporaryFolder folder_;
  Certificates certificates_;
  uint16_t port_ = free_port();
  std::unique_ptr<Process> process_;
};

class S3rver : public Server {
 public:
  S3rver() {
    ::setenv("AWS_ACCESS_KEY_ID", "S3RVER", 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", "S3RVER", 1);
    process_ = std::make_unique<Process>(
        std::vector<std::string>{s3rver().string(), "-d", folder_.path().string(), "-a", "127.0.0.1", "-p",
                                 std::to_string(port_), "-s", "--configure-bucket", "kernels"},
        folder_ / "log");
    process_->wait_for(port_);
  }
  ~S3rver() override {
    ::unsetenv("AWS_ACCESS_KEY_ID");
    ::unsetenv("AWS_SECRET_ACCESS_KEY");
  }
  std::string url() const override {
    return fmt::format("s3://kernels/some/prefix?region=eu-central-1&endpoint=http://127.0.0.1:{}", port_);
  }

 private:
  TemporaryFolder folder_;
  uint16_t port_ = free_port();
  std::unique_ptr<Process> process_;
};

template <class Kind>
std::unique_ptr<Server> make() {
  return std::make_unique<Kind>();
}

}  // namespace

std::string patient(const std::string& url) {
  return url + (url.find('?') == std::string::npos ? "?" : "&") + "connect=20s&stall=20s&budget=5m&timeout=1m";
}

uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("no free port");
  ::close(fd);
  return ntohs(address.sin_port);
}

std::string program(const std::string& name) {
  for (const char* folder : {"/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/"})
    if (::access((folder + name).c_str(), X_OK) == 0) return folder + name;
  return {};
}

std::string guide_config(const std::string& name, const std::vector<std::pair<std::string, std::string>>& replaced) {
  std::string text(as_text(must_read(fs::path(SMELT_SOURCE_DIR) / "docs/guide/remotes" / name)));
  for (const auto& [from, to] : replaced) replace(text, from, to);
  return text;
}

Process::Process(const std::vector<std::string>& command, const fs::path& log) : log_(log) {
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ != 0) return;
  // Gone with the test, however that ends.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const int fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(fd, 1);
  ::dup2(fd, 2);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execv(words[0], words.data());
  ::_exit(127);
}

Process::~Process() {
  kill();
}

void Process::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void Process::wait_for(uint16_t port) const {
  for (int i = 0; i < 6000; ++i) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(port);
    const bool there = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    ::close(fd);
    if (there) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  throw std::runtime_error("a server did not start: " + std::string(as_text(must_read(log_))));
}

Certificates::Certificates(const fs::path& where) : folder(where) {
  const std::string key = "openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
  const std::string base = folder.string();
  run(fmt::format("{0} -x509 -days 2 -subj /CN=authority -keyout {1}/authority.key -out {1}/authority.pem", key, base));
  write(folder / "names", "subjectAltName=IP:127.0.0.1,DNS:localhost\n");
  const auto make = [&](const std::string& name, const std::string& validity) {
    run(fmt::format("{0} -subj /CN={2} -keyout {1}/{2}.key -out {1}/{2}.csr", key, base, name));
    run(
        fmt::format("openssl x509 -req -in {0}/{1}.csr -CA {0}/authority.pem -CAkey {0}/authority.key -CAcreateserial "
                    "-extfile {0}/names -out {0}/{1}.pem {2}",
                    base, name, validity));
  };
  make("server", "-days 2");
  make("client", "-days 2");
  // OpenSSL before 3.4 knows no dates, and since 3.5 no number of days below zero.
  try {
    make("expired", "-not_before 20240101000000Z -not_after 20240102000000Z");
  } catch (const std::exception&) {
    make("expired", "-days -1");
  }
}

std::unique_ptr<Server> start_folder() {
  return make<Folder>();
}
std::unique_ptr<Server> start_nginx() {
  return make<NginxTls>();
}
std::unique_ptr<Server> start_nginx_plain() {
  return make<NginxPlain>();
}
std::unique_ptr<Server> start_lighttpd() {
  return make<Lighttpd>();
}
std::unique_ptr<Server> start_redis() {
  return make<RedisWithPassword>();
}
std::unique_ptr<Server> start_redis_tls() {
  return make<RedisTls>();
}
std::unique_ptr<Server> start_s3rver() {
  return make<S3rver>();
}

std::vector<ServerKind> server_kinds() {
  std::vector<ServerKind> kinds{{"folder", &start_folder}};
  if (!program("nginx").empty() && !program("openssl").empty()) {
    kinds.push_back({"nginx, TLS", &start_nginx});
    kinds.push_back({"nginx", &start_nginx_plain});
  }
  if (!program("lighttpd").empty()) kinds.push_back({"lighttpd", &start_lighttpd});
  if (!program("redis-server").empty()) {
    kinds.push_back({"redis", &start_redis});
    if (!program("openssl").empty()) kinds.push_back({"redis, TLS", &start_redis_tls});
  }
  if (fs::exists(s3rver())) kinds.push_back({"s3", &start_s3rver});
  return kinds;
}

Redis::Redis(std::vector<std::string> settings, uint16_t port)
    : settings_(std::move(settings)), port_(port != 0 ? port : free_port()) {
  start();
}

std::string Redis::url() const {
  return fmt::format("redis://127.0.0.1:{}", port_);
}

void Redis::stop() {
  process_.reset();
}

void Redis::start() {
  std::vector<std::string> command{
      program("redis-server"), "--port", std::to_string(port_), "--bind", "127.0.0.1", "--save", "", "--dir",
      folder_.path().string()};
  command.insert(command.end(), settings_.begin(), settings_.end());
  process_ = std::make_unique<Process>(command, folder_ / "log");
  process_->wait_for(port_);
}

}  // namespace smelt::test
