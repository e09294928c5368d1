// The protocol of a device in another process: each request is followed by its answer.
//
//   the worker first, once it has opened its device    {"protocol", "machine", "uuid", "driver_version", "card",
//                                                       "counters": [names]}
//   {"ask": "allocate", "id", "name", "size_bytes", "element_bytes"}    {"address"}
//   {"ask": "release", "id"}                                            {}
//   {"ask": "protect", "id"}                                            {}
//   {"ask": "lay_out", "seed"}                                          {}
//   {"ask": "write", "id", "offset_bytes", "size_bytes"},               {}
//    with the bytes in shared memory
//   {"ask": "read", "id", "offset_bytes", "size_bytes"}                 {}, with the bytes in shared memory
//   {"ask": "forget", "id", "offset_bytes", "size_bytes"}               {}
//   {"ask": "load", "artifact"} and its texts                           {}
//   {"ask": "plan", "sizes": [bytes of each argument],                  {"plan", "arguments": its bytes in
//    "scratch": [addresses so far]} and argument bytes                   hex, "scratch_bytes": 0}; with "plan" null,
//                                                                        the size of the buffer to allocate first
//   {"ask": "run", "plan", "options"} and argument bytes                {"record"}
//
// Bytes in shared memory are at its beginning (shared_memory.h).
//
// Each answer is {"error": null or an Error, "lost": null or an Error, "value": as above, null if there is an error}.
// `lost`: the device cannot be used any more, independent of the answer (Device::alive).
#pragma once

#include "common/base/json_fwd.h"
#include "common/base/result.h"
#include "common/device/device.h"

namespace roofwalk {

// Increment on every change of these messages or of JSON inside them.
inline constexpr int kWorkerProtocol = 8;

Json to_json(const Error& error);
// Reads an Error from `json` into `error`. Errors: `json` is not an Error.
Status read_error(const Json& json, Error& error);

inline constexpr std::size_t kMostArguments = 256;  // limit for `solve`

// Writes two digits per byte.
std::string hex_text(std::span<const std::uint8_t> bytes);
Result<std::vector<std::uint8_t>> bytes_from_hex(std::string_view text);

Json to_json(const RunOptions& options);
Result<RunOptions> run_options_from_json(const Json& json);

}  // namespace roofwalk
