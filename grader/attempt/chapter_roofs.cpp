#include "grader/attempt/chapter_roofs.h"

#include "common/measure/roofs.h"

namespace roofwalk {

Roofs roofs_for(const Rig& rig, const Chapter& chapter) {
  Roofs roofs = rig.roofs;
  roofs.unit = chapter.unit;
  if (chapter.roof == ChapterRoof::memory) {
    roofs.compute.clear();
    roofs.is_memory_only = true;
  } else if (chapter.roof == ChapterRoof::tensor_f16) {
    roofs.compute = {compute_roof_of(rig.machine, rig.rates, Roof::mma)};
    std::erase_if(roofs.compute, [](const ComputeRoof& roof) { return roof.flops_per_s <= 0; });
  }
  return roofs;
}

}  // namespace roofwalk
