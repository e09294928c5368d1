// A RunRecord as JSON without loss, and back: how it travels between processes.
#pragma once

#include "common/base/result.h"
#include "common/record/run_record.h"

namespace roofwalk {

// Every member, every figure to the bit. Counters, waits and parts of time are arrays in the order of their lists: a
// plan of ten thousand launches fits into a few MB. Texts must be UTF-8 when the JSON is written out.
Json whole_json(const RunRecord& record);
Json whole_json(const Fault& fault);

// Errors: in one line, the first member that is missing, unknown, of another type, not finite, negative where it cannot
// be, or too much. Nothing in `json` is trusted.
Result<RunRecord> run_record_from_json(const Json& json);

// RunRecord::untraced_blocks. An Error for what is not an array of arrays of whole numbers.
Result<BlockNumbers> block_numbers_from_json(const Json& json);

}  // namespace roofwalk
