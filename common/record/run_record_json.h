// Converts a RunRecord to JSON and back without loss, to send it to another process.
#pragma once

#include "common/base/result.h"
#include "common/record/run_record.h"

namespace roofwalk {

// Writes every member; floating-point values are exact. Counters, waits and parts of time are arrays in the order of
// the lists in run_record.h, without names, so that a plan of ten thousand launches takes only a few MB. Texts must be
// UTF-8 when the JSON is written.
Json whole_json(const RunRecord& record);
Json whole_json(const Fault& fault);

// Reads the output of whole_json. Errors, in one line: the first member that is missing, unknown, of the wrong type,
// not finite, negative where not allowed, or too large. `json` is untrusted.
Result<RunRecord> run_record_from_json(const Json& json);

// Reads RunRecord::untraced_blocks. Errors: not an array of arrays of whole numbers.
Result<BlockNumbers> block_numbers_from_json(const Json& json);

}  // namespace roofwalk
