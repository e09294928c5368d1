// roofwalk device-worker: the process that contains a device (common/device/remote). Only the program itself starts
// it; the help does not mention it.
#include <memory>

#include "common/device/cuda/open_cuda.h"
#include "common/device/remote/worker.h"
#include "grader/cmd/verbs.h"

namespace roofwalk {
namespace {

int serve(const Session& session, bool boxed_tools) {
  if (!is_worker()) {
    throw Failure{
        {.message = "`device-worker` is started by the program itself, to run kernels in a process of their own",
         .advice = "`./roofwalk run NAME` runs yours"},
        kUsage};
  }
  return serve_device([&]() -> Result<std::unique_ptr<Device>> {
    const auto ordinal = cuda_ordinal(session.options.device);
    if (!ordinal) return open_device(session.options.device);
    auto toolkit = find_toolkit(find_root());
    if (toolkit && boxed_tools) toolkit->isolation = Isolation::boxed;
    return open_cuda(*ordinal, toolkit ? std::optional<Toolkit>(*toolkit) : std::nullopt);
  });
}

void add_device_worker_command(Verb& program, Session& session, int& exit_code) {
  Verb command = program.add_subcommand("device-worker", "Serve a device to the program that started this");
  command.hide();
  const auto boxed_tools = std::make_shared<bool>(false);
  command.add_flag("--boxed-tools", *boxed_tools, "Run the assembler in a box");
  command.callback([&session, &exit_code, boxed_tools] { exit_code = serve(session, *boxed_tools); });
}

ROOFWALK_VERB(195, add_device_worker_command);

}  // namespace

}  // namespace roofwalk
