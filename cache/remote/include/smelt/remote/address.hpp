// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A remote's URL with its options, e.g. https://cache.example/smelt?read-only&token-file=/etc/smelt/token
//
//   file:///folder                        a folder: a mirror on a disk, a read-only medium
//   http://host/base, https://host/base   GET, PUT and HEAD on base/ac/<key> and base/cas/<sha256>
//   redis://[user:password@]host[:6379][/database], rediss:// the same over TLS
//   s3://bucket[/prefix]                  as https, signed
//
// Options, after '?', separated by '&'; a duration is a number with ms, s, m, h or d:
//   read-only           nothing is written
//   connect=300ms       for name resolution, connection and TLS together
//   stall=500ms         without a byte, before a call is given up
//   timeout=5s          for one call, however long it goes on
//   budget=1s           what failing calls may cost one process before the remote rests
//   rest=60s            how long it rests after failures; then it is tried once, in the background
//   remember-misses=30s
//   token-file=F        https: bearer token; redis: password. The first line counts
//   ca-file=F           certificates to trust instead of the system's
//   cert-file=F&key-file=F   what we show a server that asks for a certificate
//   proxy=URL           else https_proxy, all_proxy, no_proxy
//   ttl=7d              redis: entries expire
//   max-size=20GiB      file: what was unused for longest goes when the folder is larger
//   prefix=smelt:1      redis: begin of every key
//   region=R&endpoint=URL    s3
#pragma once

#include "smelt/base/result.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::remote {

enum class Kind : uint8_t { file, http, redis, s3 };

struct Address {
  Kind kind = Kind::file;
  bool tls = false;
  std::string shown;  ///< the URL without password and options: for messages and statistics
  std::string host;   ///< s3: the bucket
  uint16_t port = 0;  ///< 0: the kind's own
  std::string path;   ///< decoded; begins with '/' or is empty, never ends with '/'
  std::string user, password;

  bool read_only = false;
  std::chrono::milliseconds connect{300}, stall{500}, timeout{5000}, budget{1000}, rest{60000};
  std::chrono::milliseconds remember_misses{30000};
  std::chrono::seconds ttl{0};  ///< 0: for ever
  uint64_t max_size = 0;        ///< bytes; 0: any
  std::string token_file, ca_file, cert_file, key_file, proxy, prefix = "smelt:1", region, endpoint;
};

/// `invalid_argument` says what is known where something is not.
Result<Address> parse_address(std::string_view url);

/// Several, separated by spaces, nearest first.
Result<std::vector<Address>> parse_addresses(std::string_view urls);

/// A number with ms, s, m, h or d.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

/// The first line of a secret's file, without its end.
Result<std::string> read_token(const std::string& file);

}  // namespace smelt::remote
