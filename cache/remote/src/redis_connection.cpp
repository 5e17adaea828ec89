// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "redis_connection.hpp"

#include "smelt/base/foreign_text.hpp"

#include "hiredis_library.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace smelt::remote {
namespace {

constexpr int kMostElements = 65536;  // of an array: we never ask for more

// What hiredis calls while it parses. A reply owns its elements; `task->parent->obj` is the array that it goes into.
Reply* place(const redisReadTask* task) {
  if (!task->parent) return new Reply;
  return &static_cast<Reply*>(task->parent->obj)->elements[static_cast<size_t>(task->idx)];
}

void* create_string(const redisReadTask* task, char* text, size_t size) {
  Reply* reply = place(task);
  reply->type = task->type == REDIS_REPLY_ERROR    ? Reply::Type::error
                : task->type == REDIS_REPLY_STATUS ? Reply::Type::status
                                                   : Reply::Type::text;
  reply->bytes = to_bytes(as_bytes({text, size}));
  return reply;
}

/// `Count` is int up to hiredis 0.14, size_t from 1.0 on.
template <class Count>
void* create_array(const redisReadTask* task, Count count) {
  if (std::cmp_less(count, 0) || std::cmp_greater(count, kMostElements)) return nullptr;  // hiredis ends with an error
  Reply* reply = place(task);
  reply->type = Reply::Type::array;
  reply->elements.resize(static_cast<size_t>(count));
  return reply;
}

void* create_integer(const redisReadTask* task, long long value) {
  Reply* reply = place(task);
  reply->type = Reply::Type::integer;
  reply->integer = value;
  return reply;
}

void* create_nil(const redisReadTask* task) {
  return place(task);
}

void free_reply(void* reply) {
  delete static_cast<Reply*>(reply);
}

/// The callbacks by their names: each version of hiredis has its own list. From 1.0 on it reads doubles and booleans of
/// protocol 3, which we never ask for; without a callback the reply would be no pointer.
template <class Functions>
Functions reply_functions() {
  Functions functions{};
  functions.createString = create_string;
  functions.createArray = create_array;
  functions.createInteger = create_integer;
  functions.createNil = create_nil;
  functions.freeObject = free_reply;
  if constexpr (requires { functions.createDouble; })
    functions.createDouble = [](const redisReadTask*, double, char*, size_t) -> void* { return nullptr; };
  if constexpr (requires { functions.createBool; })
    functions.createBool = [](const redisReadTask*, int) -> void* { return nullptr; };
  return functions;
}

}  // namespace

void append_command(std::string& wire, const Command& command) {
  std::vector<const char*> words;
  std::vector<size_t> sizes;
  for (const std::string_view word : command) {
    words.push_back(word.data());
    sizes.push_back(word.size());
  }
  char* text = nullptr;
  const int size = hiredis().FormatCommandArgv(&text, static_cast<int>(words.size()), words.data(), sizes.data());
  if (size > 0) wire.append(text, static_cast<size_t>(size));
  hiredis().FreeCommand(text);
}

void RedisConnection::close() {
  easy_.reset();
}

Result<void> RedisConnection::connect(const Patience& patience) {
  easy_ = make_easy();
  CURL* easy = easy_.get();
  std::array<char, CURL_ERROR_SIZE> detail{};
  set_connection(easy, address_, patience);
  const int port = address_.port != 0 ? address_.port : 6379;
  const std::string url = fmt::format("{}://{}:{}", address_.tls ? "https" : "http", address_.host, port);
  curl().easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl().easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
  curl().easy_setopt(easy, CURLOPT_SSL_ENABLE_ALPN, 0L);
  curl().easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
  curl().easy_setopt(easy, CURLOPT_ERRORBUFFER, detail.data());
  const CURLcode code = curl().easy_perform(easy);
  curl().easy_setopt(easy, CURLOPT_ERRORBUFFER, nullptr);
  if (code == CURLE_OK) return {};
  close();
  return tl::unexpected(curl_error(address_, code, detail.data(), patience));
}

Result<void> RedisConnection::wait(bool to_write, const Waiting& waiting, const Patience& patience) {
  if (const auto why = waiting.over(patience)) return fail(Errc::io, "{}: {}", address_.shown, *why);
  curl_socket_t socket = CURL_SOCKET_BAD;
  curl().easy_getinfo(easy_.get(), CURLINFO_ACTIVESOCKET, &socket);
  if (socket == CURL_SOCKET_BAD) return fail(Errc::io, "{}: the server closed the connection", address_.shown);
  pollfd ready{socket, static_cast<short>(to_write ? POLLOUT : POLLIN), 0};
  ::poll(&ready, 1, 20);
  return {};
}

Result<void> RedisConnection::send(std::string_view wire, Waiting& waiting, const Patience& patience) {
  while (!wire.empty()) {
    size_t sent = 0;
    const CURLcode code = curl().easy_send(easy_.get(), wire.data(), wire.size(), &sent);
    wire.remove_prefix(sent);
    if (sent > 0) waiting.moved(sent);
    if (code == CURLE_AGAIN) {
      SMELT_TRY_VOID(wait(true, waiting, patience));
    } else if (code != CURLE_OK) {
      return fail(Errc::io, "{}: sending: {}", address_.shown, curl().easy_strerror(code));
    }
  }
  return {};
}

Result<void> RedisConnection::receive(std::vector<Reply>& replies, size_t count, uint64_t most, Waiting& waiting,
                                      const Patience& patience) {
  static auto functions = reply_functions<redisReplyObjectFunctions>();
  const std::unique_ptr<redisReader, decltype(&redisReaderFree)> reader(hiredis().ReaderCreateWithFunctions(&functions),
                                                                        hiredis().ReaderFree);
  std::vector<char> buffer(size_t{1} << 18);
  uint64_t total = 0;
  while (replies.size() < count) {
    void* made = nullptr;
    if (hiredis().ReaderGetReply(reader.get(), &made) != REDIS_OK)
      return fail(Errc::corrupt, "{}: it does not speak Redis' protocol: {}", address_.shown, one_line(reader->errstr));
    if (made) {
      replies.push_back(std::move(*static_cast<Reply*>(made)));
      free_reply(made);
      continue;
    }
    size_t got = 0;
    const CURLcode code = curl().easy_recv(easy_.get(), buffer.data(), buffer.size(), &got);
    if (code == CURLE_AGAIN) {
      SMELT_TRY_VOID(wait(false, waiting, patience));
      continue;
    }
    if (code != CURLE_OK || got == 0)
      return fail(Errc::io, "{}: the connection was cut: {}", address_.shown, curl().easy_strerror(code));
    waiting.moved(got);
    total += got;
    if (total > most) return fail(Errc::corrupt, "{}: more than the {} bytes that were expected", address_.shown, most);
    hiredis().ReaderFeed(reader.get(), buffer.data(), got);
  }
  return {};
}

Result<std::vector<Reply>> RedisConnection::exchange(std::string_view wire, size_t count, uint64_t most,
                                                     const Patience& patience) {
  Waiting waiting;
  std::vector<Reply> replies;
  auto done = send(wire, waiting, patience);
  if (done) done = receive(replies, count, most, waiting, patience);
  if (done) return replies;
  close();
  return tl::unexpected(std::move(done).error());
}

}  // namespace smelt::remote
