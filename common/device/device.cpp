#include "common/device/device.h"

#include "common/record/run_record.h"

namespace roofwalk {

Result<RunRecord> Device::run(const Plan& plan, const RunOptions& options) { return do_run(plan, options); }

}  // namespace roofwalk
