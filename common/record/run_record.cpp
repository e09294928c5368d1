#include "common/record/run_record.h"

#include "common/base/json.h"

namespace roofwalk {
std::string_view counts_from_name(CountsFrom from) { return from == CountsFrom::sass ? "sass" : "ptx"; }

Json to_json(const Printed& printed) { return {{"text", printed.text}, {"more_lines", printed.more_lines}}; }

}  // namespace roofwalk
