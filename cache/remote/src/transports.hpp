// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kinds of transport and how each is made. Private to remote.
#pragma once

#include "smelt/remote/transport.hpp"

#include <functional>
#include <string>
#include <vector>

namespace smelt::remote {

Result<std::unique_ptr<Transport>> make_file_transport(const Address& address);
Result<std::unique_ptr<Transport>> make_http_transport(const Address& address);
Result<std::unique_ptr<Transport>> make_redis_transport(const Address& address);
Result<std::unique_ptr<Transport>> make_s3_transport(const Address& address);

/// What http needs to know beyond the address; s3 fills it in its own way.
struct HttpTarget {
  std::string base;  ///< URL without options, no '/' at its end
  std::string bearer;
  std::string user_password;  ///< "user:password", for basic authentication or, with sigv4, the two halves of the key
  std::string sigv4;          ///< libcurl's provider string, e.g. "aws:amz:eu-central-1:s3"
  std::vector<std::string> headers;
};
Result<std::unique_ptr<Transport>> make_http_transport(const Address& address, HttpTarget target);

}  // namespace smelt::remote
