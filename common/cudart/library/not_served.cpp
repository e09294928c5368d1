// Every name of the runtime, for the names that nothing else here defines: such a function says its name, once, and
// returns cudaErrorNotSupported. Includes no header of CUDA, because these have the functions' true parameters.
namespace roofwalk::cudart {

int report_not_served(const char* name);

}  // namespace roofwalk::cudart

#define ROOFWALK_NAME(name) \
  extern "C" __attribute__((weak)) int name() { return roofwalk::cudart::report_not_served(#name); }
#include "common/cudart/library/names.def"
#undef ROOFWALK_NAME
