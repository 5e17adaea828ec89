// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/remote/transport.hpp"

#include "curl_library.hpp"
#include "hiredis_library.hpp"
#include "transports.hpp"

namespace smelt::remote {

std::string to_path(const Name& name) {
  return (name.space == Space::ac ? "ac/" : "cas/") + to_hex(name.digest);
}

Result<LeaseAnswer> Transport::take(const Lease&, const Patience&) {
  return fail(Errc::unsupported, "this kind of remote has no leases");
}

Result<void> Transport::give_back(const Lease&, const Patience&) {
  return {};
}

Result<std::unique_ptr<Transport>> make_transport(const Address& address) {
  if (address.kind != Kind::file) SMELT_TRY_VOID(curl_available());
  switch (address.kind) {
    case Kind::file:
      return make_file_transport(address);
    case Kind::http:
      return make_http_transport(address);
    case Kind::redis:
      SMELT_TRY_VOID(hiredis_available());
      return make_redis_transport(address);
    case Kind::s3:
      return make_s3_transport(address);
  }
  return fail(Errc::unsupported, "{}: no such kind of remote", address.shown);
}

}  // namespace smelt::remote
