#include "tests/random/generator.h"

namespace roofwalk::random {

Register Generator::parameter(Buffer buffer) {
  const Register out = fresh(Kind::b64);
  Instruction in;
  in.what = Do::parameter;
  in.text = "ld.param.u64";
  in.results = {of(out)};
  in.name = kBufferNames[buffer];
  put(std::move(in));
  return out;
}

Register Generator::special(const std::string& name) {
  const Register out = fresh(Kind::b32);
  put_special(out, name);
  return out;
}

void Generator::put_special(Register to, const std::string& name) {
  Instruction in;
  in.what = Do::special;
  in.text = "mov.u32";
  in.results = {of(to)};
  in.name = name;
  put(std::move(in));
}

void Generator::prologue() {
  for (int b = 0; b < kBufferCount; ++b) buffers_[b] = parameter(static_cast<Buffer>(b));
  near_ = fresh(Kind::b32);
  Instruction names;
  names.what = Do::address;
  names.text = "mov.u32";
  names.results = {of(near_)};
  names.name = "near";
  put(std::move(names));
  target_->back().id = -1;  // never removed by the minimizer: a kernel gets only variables that it names
  const Dimensions& block = out_.block;
  const auto coordinate = [&](const char* name, std::uint32_t extent) {
    const Register reg = special(name);
    words_.push_back(reg);
    coordinates_.push_back({reg, static_cast<int>(extent) - 1});
    return reg;
  };
  const Register x = coordinate("%tid.x", block.x), y = coordinate("%tid.y", block.y),
                 z = coordinate("%tid.z", block.z);
  const Register bx = coordinate("%ctaid.x", out_.grid.x), by = coordinate("%ctaid.y", out_.grid.y),
                 bz = coordinate("%ctaid.z", out_.grid.z);
  coordinate("%laneid", static_cast<std::uint32_t>(std::min(threads_, 32)));
  uniform_coordinates_ = {coordinates_[3], coordinates_[4], coordinates_[5]};
  const auto linear = [&](Register a, Register b, Register c, const char* nx, const char* ny) {
    const Register inner = fresh(Kind::b32), out = fresh(Kind::b32), width = special(nx), height = special(ny);
    put(form("mad.lo.s32", inner, {of(height), of(c), of(b)}));
    put(form("mad.lo.s32", out, {of(inner), of(width), of(a)}));
    return out;
  };
  thread_ = linear(x, y, z, "%ntid.x", "%ntid.y");
  const Register number_of_block = linear(bx, by, bz, "%nctaid.x", "%nctaid.y");
  all_ = fresh(Kind::b32);
  put(form("mad.lo.s32", all_, {of(number_of_block), number(static_cast<Bits>(threads_), "s32"), of(thread_)}));
  for (const auto& [reg, most] : {std::pair{thread_, threads_ - 1}, std::pair{all_, all_threads_ - 1},
                                  std::pair{number_of_block, static_cast<int>(out_.grid.count()) - 1}}) {
    words_.push_back(reg);
    coordinates_.push_back({reg, most});
  }
  for (const char* text : {"cvt.u64.u32", "cvt.s64.s32"}) {
    doubles_.push_back(fresh(Kind::b64));
    put(form(text, doubles_.back(), {of(one_of(words_))}));
  }
  members_ = fresh(Kind::b32);
  Instruction in;
  in.what = Do::active_mask;
  in.text = "activemask.b32";
  in.results = {of(members_)};
  put(in);
  first_values();
  starts_ = false;
  if (out_.gates > 0) open_gates();
  fill_shared();
  fill_local();
}

void Generator::first_values() {
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < pool_[k]; ++i) first_value({static_cast<Kind>(k), i});
  }
}

void Generator::first_value(Register reg) {
  switch (reg.kind) {
    case Kind::pred:
      put(form("setp.lt.s32", reg, {of(one_of(words_)), number(below(20), "s32")}));
      break;
    case Kind::b16:
      if (chance(40)) {
        load_input({"b16", 2, false}, {reg});
        break;
      }
      put(form("cvt.u16.u32", reg, {of(one_of(words_))}));
      if (chance(70)) put(form("xor.b16", reg, {of(reg), random_number("b16")}));
      break;
    case Kind::b32:
      first_word(reg);
      break;
    case Kind::b64:
      if (chance(30))
        put(form("mov.b64", reg, {chance(50) ? random_number("b64") : number(double_number(), "b64")}));
      else if (chance(50))
        put(form("mul.wide.s32", reg, {of(one_of(words_)), random_number("s32")}));
      else
        load_input({"b64", 8, false}, {reg});
      break;
  }
}

void Generator::first_word(Register reg) {
  switch (below(7)) {
    case 0:
      return put(form("mov.b32", reg, {number(below(2) == 0 ? single_number() : integer_number(32), "b32")}));
    case 1:
      return put(form("mov.b32", reg, {of(one_of(words_))}));
    case 2:
      return put(form("mad.lo.s32", reg, {of(one_of(words_)), random_number("s32"), of(one_of(words_))}));
    case 3:
      return put_special(
          reg, one_of(std::array<const char*, 14>{"%ntid.x", "%ntid.y", "%ntid.z", "%nctaid.x", "%nctaid.y",
                                                  "%nctaid.z", "%laneid", "%laneid", "%ntid.x", "%lanemask_eq",
                                                  "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge"}));
    default:
      return load_input({"b32", 4, false}, {reg});
  }
}

// Writes every byte of shared memory before any is read.
void Generator::fill_shared() {
  group([&] {
    const Register at = fresh(Kind::b32), beyond = fresh(Kind::b32), value = thread_;
    const Register has_more = fresh(Kind::pred);
    const auto fill = [&](Register index, int guard_index) {
      const auto add = [&](Instruction in) {
        in.guard = guard_index;
        put(std::move(in));
      };
      add(form("shl.b32", at, {of(index), number(4, "u32")}));
      add(memory(Do::store, "st.shared.v4.b32", Space::shared, at, 0, {"b32", 4, false},
                 {of(value), of(value), of(value), of(value)}));
      add(form("shl.b32", at, {of(index), number(2, "u32")}));
      add(memory(Do::store, "st.shared.b32", Space::shared, at, 16 * slots_, {"b32", 4, false}, {of(value)}));
    };
    fill(thread_, -1);
    put(form("add.s32", beyond, {of(thread_), number(static_cast<Bits>(threads_), "s32")}));
    put(form("setp.lt.s32", has_more, {of(beyond), number(static_cast<Bits>(slots_), "s32")}));
    fill(beyond, has_more.index);
    barrier();
  });
}

void Generator::fill_local() {
  group([&] {
    for (std::uint32_t at = 0; at < kLocalBytes; at += 16) {
      Instruction in = memory(Do::store, "st.local.v2.b64", Space::local, {}, at, {"b64", 8, false},
                              {of(pool(Kind::b64)), of(pool(Kind::b64))});
      in.has_base = false;
      in.name = "own";
      put(std::move(in));
    }
  });
}

void Generator::epilogue() {
  int slot = 0;
  for (int k = 1; k < 4; ++k) {
    for (int i = 0; i < kPool[k]; ++i) {
      if (chance(4)) leave();
      const Element element = k == 1   ? Element{"b16", 2, false}
                              : k == 2 ? Element{"b32", 4, false}
                                       : Element{"b64", 8, false};
      group([&] { store_spread(element, {of(Register{static_cast<Kind>(k), i})}, slot); });
      ++slot;
    }
  }
  for (int i = 0; i < kPool[0]; ++i) {
    group([&] {
      const Register word = fresh(Kind::b32);
      put(form("selp.b32", word, {number(1, "b32"), number(0, "b32"), of(Register{Kind::pred, i})}));
      store_spread({"b32", 4, false}, {of(word)}, slot);
    });
    ++slot;
  }
  ROOFWALK_CHECK(slot <= kSpreadSlots);
}

void Generator::leave() {
  Instruction in;
  in.what = Do::leave;
  in.text = in_function_ || chance(50) ? "exit" : "ret";  // a function must store its results before `ret`
  guard(in);
  put(std::move(in));
}

}  // namespace roofwalk::random
