#include "common/sandbox/run_boxed.h"

#include "common/sandbox/probe.h"

namespace roofwalk {

Result<CommandResult> run_boxed(const Box& box, const std::vector<std::string>& program, const BoxedRun& run) {
  ROOFWALK_TRY(BoxStart start, prepare_box(box, program));
  // bubblewrap itself is a process of the box, so its environment could be read there, too.
  const Command command{.arguments = std::move(start.arguments),
                        .working_directory = "/",
                        .has_environment = false,
                        .timeout_s = run.timeout_s,
                        .max_output_bytes = run.max_log_bytes,
                        .max_thrown_bytes = run.max_thrown_bytes,
                        .max_channel_bytes = run.max_result_bytes,
                        .passed = std::move(start.passed),
                        .run_as = start.run_as,
                        .group_line = start.guard->line()};
  ROOFWALK_TRY(CommandResult result, run_command(command));
  constexpr double kEndSeconds = 5;
  BoxStatus status(std::move(start.status));
  if (!status.wait_until_gone(kEndSeconds)) {
    return Error{.message = "a process in the sandbox was killed and does not end",
                 .advice = "if this happens again, restart the machine"};
  }
  const bool by_itself = !result.timed_out && !result.flooded;
  if (by_itself && !status.was_made()) return box_trouble(result.output);
  return result;
}

}  // namespace roofwalk
