#include "common/ptx/names.h"

namespace roofwalk::ptx {
namespace {

constexpr Name<Type> kTypes[] = {{".f32", Type::f32},   {".u32", Type::u32},       {".s32", Type::s32},
                                 {".b32", Type::b32},   {".u64", Type::u64},       {".s64", Type::s64},
                                 {".b64", Type::b64},   {".pred", Type::pred},     {".f64", Type::f64},
                                 {".b8", Type::b8},     {".u8", Type::u8},         {".s8", Type::s8},
                                 {".b16", Type::b16},   {".u16", Type::u16},       {".s16", Type::s16},
                                 {".f16", Type::f16},   {".b128", Type::b128},     {".f16x2", Type::f16x2},
                                 {".bf16", Type::bf16}, {".bf16x2", Type::bf16x2}, {".tf32", Type::tf32}};
constexpr Name<Rounding> kRoundings[] = {
    {".rn", Rounding::rn},   {".rz", Rounding::rz},         {".rm", Rounding::rm},    {".rp", Rounding::rp},
    {".rna", Rounding::rna}, {".rni", Rounding::rni},       {".rzi", Rounding::rzi},  {".rmi", Rounding::rmi},
    {".rpi", Rounding::rpi}, {".approx", Rounding::approx}, {".full", Rounding::full}};
constexpr Name<MulMode> kMulModes[] = {{".lo", MulMode::lo}, {".hi", MulMode::hi}, {".wide", MulMode::wide}};
constexpr Name<Compare> kCompares[] = {{".eq", Compare::eq},   {".ne", Compare::ne},   {".lt", Compare::lt},
                                       {".le", Compare::le},   {".gt", Compare::gt},   {".ge", Compare::ge},
                                       {".lo", Compare::lo},   {".ls", Compare::ls},   {".hi", Compare::hi},
                                       {".hs", Compare::hs},   {".equ", Compare::equ}, {".neu", Compare::neu},
                                       {".ltu", Compare::ltu}, {".leu", Compare::leu}, {".gtu", Compare::gtu},
                                       {".geu", Compare::geu}, {".num", Compare::num}, {".nan", Compare::nan}};
constexpr Name<NumberTest> kNumberTests[] = {{".finite", NumberTest::finite}, {".infinite", NumberTest::infinite},
                                             {".number", NumberTest::number}, {".notanumber", NumberTest::notanumber},
                                             {".normal", NumberTest::normal}, {".subnormal", NumberTest::subnormal}};
constexpr Name<BoolOp> kBoolOps[] = {{".and", BoolOp::and_}, {".or", BoolOp::or_}, {".xor", BoolOp::xor_}};
constexpr Name<AtomicOp> kAtomicOps[] = {{".add", AtomicOp::add},   {".min", AtomicOp::min}, {".max", AtomicOp::max},
                                         {".and", AtomicOp::and_},  {".or", AtomicOp::or_},  {".xor", AtomicOp::xor_},
                                         {".exch", AtomicOp::exch}, {".cas", AtomicOp::cas}, {".inc", AtomicOp::inc},
                                         {".dec", AtomicOp::dec}};
constexpr Name<ShuffleMode> kShuffleModes[] = {
    {".up", ShuffleMode::up}, {".down", ShuffleMode::down}, {".bfly", ShuffleMode::bfly}, {".idx", ShuffleMode::idx}};
constexpr Name<VoteMode> kVoteModes[] = {
    {".all", VoteMode::all}, {".any", VoteMode::any}, {".uni", VoteMode::uni}, {".ballot", VoteMode::ballot}};
constexpr Name<MbarrierMode> kMbarrierModes[] = {{".init", MbarrierMode::init},
                                                 {".inval", MbarrierMode::inval},
                                                 {".arrive", MbarrierMode::arrive},
                                                 {".arrive_drop", MbarrierMode::arrive_drop},
                                                 {".test_wait", MbarrierMode::test_wait},
                                                 {".try_wait", MbarrierMode::try_wait},
                                                 {".pending_count", MbarrierMode::pending_count}};
constexpr Name<PermuteMode> kPermuteModes[] = {{".f4e", PermuteMode::f4e}, {".b4e", PermuteMode::b4e},
                                               {".rc8", PermuteMode::rc8}, {".ecl", PermuteMode::ecl},
                                               {".ecr", PermuteMode::ecr}, {".rc16", PermuteMode::rc16}};
constexpr Name<Fragment> kFragments[] = {
    {".a", Fragment::a}, {".b", Fragment::b}, {".c", Fragment::c}, {".d", Fragment::d}};
constexpr Name<Space> kSpaces[] = {{".global", Space::global},      {".shared", Space::shared},
                                   {".shared::cta", Space::shared}, {".param", Space::param},
                                   {".param::entry", Space::param}, {".param::func", Space::param},
                                   {".local", Space::local},        {".const", Space::constant}};
constexpr Name<CacheHint> kLoadCache[] = {{".ca", CacheHint::ca},
                                          {".cg", CacheHint::cg},
                                          {".cs", CacheHint::cs},
                                          {".lu", CacheHint::lu},
                                          {".cv", CacheHint::cv}};
constexpr Name<CacheHint> kStoreCache[] = {
    {".wb", CacheHint::wb}, {".cg", CacheHint::cg}, {".cs", CacheHint::cs}, {".wt", CacheHint::wt}};

constexpr SpecialInfo kSpecials[] = {
    {"%tid", SpecialRegister::tid, true, Type::u32},
    {"%ntid", SpecialRegister::ntid, true, Type::u32},
    {"%ctaid", SpecialRegister::ctaid, true, Type::u32},
    {"%nctaid", SpecialRegister::nctaid, true, Type::u32},
    {"%laneid", SpecialRegister::laneid, false, Type::u32},
    {"%warpid", SpecialRegister::warpid, false, Type::u32},
    {"%nwarpid", SpecialRegister::nwarpid, false, Type::u32},
    {"%smid", SpecialRegister::smid, false, Type::u32},
    {"%nsmid", SpecialRegister::nsmid, false, Type::u32},
    {"%gridid", SpecialRegister::gridid, false, Type::u64},
    {"%lanemask_eq", SpecialRegister::lanemask_eq, false, Type::u32},
    {"%lanemask_lt", SpecialRegister::lanemask_lt, false, Type::u32},
    {"%lanemask_le", SpecialRegister::lanemask_le, false, Type::u32},
    {"%lanemask_gt", SpecialRegister::lanemask_gt, false, Type::u32},
    {"%lanemask_ge", SpecialRegister::lanemask_ge, false, Type::u32},
    {"%clock", SpecialRegister::clock, false, Type::u32},
    {"%clock_hi", SpecialRegister::clock_hi, false, Type::u32},
    {"%clock64", SpecialRegister::clock64, false, Type::u64},
    {"%globaltimer", SpecialRegister::globaltimer, false, Type::u64},
    {"%globaltimer_lo", SpecialRegister::globaltimer_lo, false, Type::u32},
    {"%globaltimer_hi", SpecialRegister::globaltimer_hi, false, Type::u32},
    {"%dynamic_smem_size", SpecialRegister::dynamic_smem_size, false, Type::u32},
    {"%total_smem_size", SpecialRegister::total_smem_size, false, Type::u32},
    {"%envreg1", SpecialRegister::grid_workspace_hi, false, Type::u32},
    {"%envreg2", SpecialRegister::grid_workspace_lo, false, Type::u32},
    {"%reserved_smem_offset_begin", SpecialRegister::reserved_smem_begin, false, Type::u32},
    {"%reserved_smem_offset_end", SpecialRegister::reserved_smem_end, false, Type::u32},
    {"%reserved_smem_offset_cap", SpecialRegister::reserved_smem_cap, false, Type::u32},
    {"%reserved_smem_offset_0", SpecialRegister::reserved_smem_0, false, Type::u32},
    {"%reserved_smem_offset_1", SpecialRegister::reserved_smem_1, false, Type::u32}};

}  // namespace

const std::span<const Name<Type>> kTypeNames = kTypes;
const std::span<const Name<Rounding>> kRoundingNames = kRoundings;
const std::span<const Name<MulMode>> kMulModeNames = kMulModes;
const std::span<const Name<Compare>> kCompareNames = kCompares;
const std::span<const Name<NumberTest>> kNumberTestNames = kNumberTests;
const std::span<const Name<BoolOp>> kBoolOpNames = kBoolOps;
const std::span<const Name<AtomicOp>> kAtomicOpNames = kAtomicOps;
const std::span<const Name<ShuffleMode>> kShuffleModeNames = kShuffleModes;
const std::span<const Name<VoteMode>> kVoteModeNames = kVoteModes;
const std::span<const Name<MbarrierMode>> kMbarrierModeNames = kMbarrierModes;
const std::span<const Name<PermuteMode>> kPermuteModeNames = kPermuteModes;
const std::span<const Name<Fragment>> kFragmentNames = kFragments;
const std::span<const Name<Space>> kSpaceNames = kSpaces;
const std::span<const Name<CacheHint>> kLoadCacheNames = kLoadCache;
const std::span<const Name<CacheHint>> kStoreCacheNames = kStoreCache;

const SpecialInfo* find_special(std::string_view word) {
  for (const SpecialInfo& special : kSpecials) {
    if (special.word == word) return &special;
  }
  return nullptr;
}

}  // namespace roofwalk::ptx
