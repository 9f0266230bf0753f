// The pickle machine: a stack, a memo and opcodes that only ever create nodes.
#include "annulus/vision/import/pickle.h"

#include <utility>

#include "annulus/base/error.h"

namespace annulus {
namespace {

class PickleReader {
 public:
  PickleReader(std::span<const std::byte> bytes, const std::string& source, const PickleLimits& limits)
      : bytes_(bytes), source_(source), limits_(limits) {}

  PickleDocument read() {
    while (step()) {
    }
    document_.root = pop();
    document_.size = position_;
    return std::move(document_);
  }

 private:
  [[noreturn]] void broken(const char* what) const {
    fail(ErrorKind::kFormat, "{}: the pickle is broken at byte {}: {}", source_, position_, what);
  }

  // --- bytes ---
  std::span<const std::byte> take(std::uint64_t count) {
    if (count > bytes_.size() - position_) broken("it ends in the middle of a value");
    const auto taken = bytes_.subspan(position_, static_cast<std::size_t>(count));
    position_ += taken.size();
    return taken;
  }
  std::uint64_t take_unsigned(std::size_t width) {
    std::uint64_t value = 0;
    const auto raw = take(width);
    for (std::size_t i = 0; i < width; ++i) value |= std::to_integer<std::uint64_t>(raw[i]) << (8 * i);
    return value;
  }
  std::string_view take_text(std::uint64_t count) {
    const auto raw = take(count);
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
  }
  std::string_view take_line() {
    const std::size_t start = position_;
    while (take_unsigned(1) != '\n') {
    }
    return {reinterpret_cast<const char*>(bytes_.data()) + start, position_ - start - 1};
  }

  // --- nodes and stack ---
  std::uint32_t add(PickleNode node) {
    if (document_.nodes.size() >= limits_.nodes) {
      fail(ErrorKind::kFormat, "{}: the pickle holds more than {} values", source_, limits_.nodes);
    }
    document_.nodes.push_back(node);
    return static_cast<std::uint32_t>(document_.nodes.size() - 1);
  }
  void push(PickleNode node) { stack_.push_back(add(node)); }
  void push_integer(PickleKind kind, std::int64_t value) {
    PickleNode made;
    made.kind = kind;
    made.integer = value;
    push(made);
  }
  void push_text(PickleKind kind, std::string_view text) {
    PickleNode made;
    made.kind = kind;
    made.text = text;
    push(made);
  }
  void push_parent(PickleKind kind, std::vector<std::uint32_t> children) {
    PickleNode made;
    made.kind = kind;
    made.children = static_cast<std::uint32_t>(document_.children.size());
    document_.children.push_back(std::move(children));
    push(made);
  }
  std::uint32_t pop() {
    const std::uint32_t node = top();
    stack_.pop_back();
    return node;
  }
  std::uint32_t top() const {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) broken("its stack is empty");
    return stack_.back();
  }
  std::vector<std::uint32_t> pop_count(std::size_t count) {
    if (stack_.size() < (marks_.empty() ? 0 : marks_.back()) + count) broken("its stack is empty");
    std::vector<std::uint32_t> values(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return values;
  }
  std::vector<std::uint32_t> pop_to_mark() {
    if (marks_.empty()) broken("a mark is missing");
    auto values = pop_count(stack_.size() - marks_.back());
    marks_.pop_back();
    return values;
  }
  const PickleNode& node(std::uint32_t index) const { return document_.nodes[index]; }

  // --- compound opcodes ---
  void put(std::uint64_t slot) {
    if (slot >= limits_.nodes) broken("a memo number is too large");
    if (slot >= memo_.size()) memo_.resize(static_cast<std::size_t>(slot) + 1, kNoNode);
    memo_[static_cast<std::size_t>(slot)] = top();
  }
  void get(std::uint64_t slot) {
    if (slot >= memo_.size() || memo_[static_cast<std::size_t>(slot)] == kNoNode) broken("a memo number is unknown");
    stack_.push_back(memo_[static_cast<std::size_t>(slot)]);
  }
  void push_global(std::string_view module, std::string_view name) {
    if (module.size() > limits_.name_length || name.size() > limits_.name_length) broken("a class name is too long");
    document_.global_names.push_back(std::string(module) + "." + std::string(name));
    push_text(PickleKind::kGlobal, document_.global_names.back());
  }
  void push_stack_global() {
    const std::uint32_t name = pop();
    const std::uint32_t module = pop();
    if (node(name).kind != PickleKind::kString || node(module).kind != PickleKind::kString) {
      broken("a class name is not text");
    }
    push_global(node(module).text, node(name).text);
  }
  void call(std::size_t parts) {
    auto children = pop_count(parts);
    const PickleNode& callable = node(children.front());
    if (callable.kind == PickleKind::kGlobal && callable.text == "collections.OrderedDict") {
      push_parent(PickleKind::kDict, {});
    } else {
      push_parent(PickleKind::kCall, std::move(children));
    }
  }
  void extend(PickleKind kind, std::span<const std::uint32_t> values) {
    const PickleNode& target = node(top());
    if (target.kind == PickleKind::kCall || target.kind == PickleKind::kObject) return;
    if (target.kind != kind) broken("items are added to something that holds none");
    if (kind == PickleKind::kDict && values.size() % 2 != 0) broken("a key has no value");
    auto& children = document_.children[target.children];
    children.insert(children.end(), values.begin(), values.end());
  }
  void give_state(std::uint32_t index, std::uint32_t state) {
    PickleNode& object = document_.nodes[index];
    if (object.kind != PickleKind::kCall) return;
    object.kind = PickleKind::kObject;
    auto& children = document_.children[object.children];
    children.resize(2);
    children.push_back(state);
  }
  void push_long(std::uint64_t width) {
    const auto raw = take(width);
    if (raw.size() > 8) return push({});  // wider than any number needed here
    std::uint64_t value = !raw.empty() && std::to_integer<int>(raw.back()) >= 128 ? ~std::uint64_t{0} : 0;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      value &= ~(std::uint64_t{0xff} << (8 * i));
      value |= std::to_integer<std::uint64_t>(raw[i]) << (8 * i);
    }
    push_integer(PickleKind::kInteger, static_cast<std::int64_t>(value));
  }
  std::int64_t take_big_endian() {
    std::uint64_t bits = 0;
    for (const std::byte byte : take(8)) bits = bits << 8 | std::to_integer<std::uint64_t>(byte);
    return static_cast<std::int64_t>(bits);
  }

  bool step();
  bool step_scalar(std::uint64_t opcode);
  bool step_container(std::uint64_t opcode);
  bool step_machine(std::uint64_t opcode);

  static constexpr std::uint32_t kNoNode = ~std::uint32_t{0};

  std::span<const std::byte> bytes_;
  const std::string& source_;
  PickleLimits limits_;
  std::size_t position_ = 0;
  PickleDocument document_;
  std::vector<std::uint32_t> stack_;
  std::vector<std::size_t> marks_;
  std::vector<std::uint32_t> memo_;
  std::size_t memo_next_ = 0;
};

bool PickleReader::step_scalar(std::uint64_t opcode) {
  switch (opcode) {
    case 'N':
      push({});
      return true;
    case 0x88:
    case 0x89:
      push_integer(PickleKind::kBool, opcode == 0x88 ? 1 : 0);
      return true;
    case 'J':
      push_integer(PickleKind::kInteger, static_cast<std::int32_t>(take_unsigned(4)));
      return true;
    case 'K':
      push_integer(PickleKind::kInteger, static_cast<std::int64_t>(take_unsigned(1)));
      return true;
    case 'M':
      push_integer(PickleKind::kInteger, static_cast<std::int64_t>(take_unsigned(2)));
      return true;
    case 0x8a:
      push_long(take_unsigned(1));
      return true;
    case 0x8b:
      push_long(take_unsigned(4));
      return true;
    case 'G':
      push_integer(PickleKind::kFloat, take_big_endian());
      return true;
    case 'U':   // short byte string of Python 2
    case 'C':   // short bytes
    case 0x8c:  // short text
      push_text(PickleKind::kString, take_text(take_unsigned(1)));
      return true;
    case 'T':
    case 'B':
    case 'X':
      push_text(PickleKind::kString, take_text(take_unsigned(4)));
      return true;
    case 0x8d:
    case 0x8e:
    case 0x96:
      push_text(PickleKind::kString, take_text(take_unsigned(8)));
      return true;
    default:
      return false;
  }
}

bool PickleReader::step_container(std::uint64_t opcode) {
  switch (opcode) {
    case ']':
    case ')':
    case 0x8f:
      push_parent(PickleKind::kList, {});
      return true;
    case '}':
      push_parent(PickleKind::kDict, {});
      return true;
    case 'l':
    case 't':
    case 0x91:
      push_parent(PickleKind::kList, pop_to_mark());
      return true;
    case 'd': {
      const auto values = pop_to_mark();
      push_parent(PickleKind::kDict, {});
      extend(PickleKind::kDict, values);
      return true;
    }
    case 0x85:
    case 0x86:
    case 0x87:
      push_parent(PickleKind::kList, pop_count(static_cast<std::size_t>(opcode) - 0x84));
      return true;
    case 'a':
      extend(PickleKind::kList, pop_count(1));
      return true;
    case 'e':
    case 0x90:
      extend(PickleKind::kList, pop_to_mark());
      return true;
    case 's':
      extend(PickleKind::kDict, pop_count(2));
      return true;
    case 'u':
      extend(PickleKind::kDict, pop_to_mark());
      return true;
    default:
      return false;
  }
}

bool PickleReader::step_machine(std::uint64_t opcode) {
  switch (opcode) {
    case 0x80:
      if (take_unsigned(1) > 5) broken("its protocol is newer than 5");
      return true;
    case 0x95:
      take(8);
      return true;
    case '(':
      marks_.push_back(stack_.size());
      return true;
    case '0':
      pop();
      return true;
    case '1':
      pop_to_mark();
      return true;
    case '2':
      stack_.push_back(top());
      return true;
    case 'q':
      put(take_unsigned(1));
      return true;
    case 'r':
      put(take_unsigned(4));
      return true;
    case 0x94:
      put(memo_next_++);
      return true;
    case 'h':
      get(take_unsigned(1));
      return true;
    case 'j':
      get(take_unsigned(4));
      return true;
    case 'c': {
      const auto module = take_line();
      push_global(module, take_line());
      return true;
    }
    case 0x93:
      push_stack_global();
      return true;
    case 'R':
    case 0x81:
      call(2);
      return true;
    case 0x92:
      call(3);
      return true;
    case 'b': {
      const std::uint32_t state = pop();
      give_state(top(), state);
      return true;
    }
    case 'Q':
      push_parent(PickleKind::kPersistent, pop_count(1));
      return true;
    default:
      return false;
  }
}

// Runs one opcode; false at the end of the pickle.
bool PickleReader::step() {
  const std::uint64_t opcode = take_unsigned(1);
  if (stack_.size() > limits_.nodes || marks_.size() > limits_.nodes) broken("its stack is too deep");
  if (opcode == '.') return false;
  if (!step_scalar(opcode) && !step_container(opcode) && !step_machine(opcode)) {
    --position_;
    fail(ErrorKind::kFormat, "{}: expected a pickle of protocol 2 to 5, found opcode {:#04x} at byte {}", source_,
         opcode, position_);
  }
  return true;
}

}  // namespace

std::span<const std::uint32_t> PickleDocument::children_of(std::uint32_t node) const {
  switch (nodes[node].kind) {
    case PickleKind::kList:
    case PickleKind::kDict:
    case PickleKind::kCall:
    case PickleKind::kObject:
    case PickleKind::kPersistent:
      return children[nodes[node].children];
    default:
      return {};
  }
}

PickleDocument read_pickle(std::span<const std::byte> bytes, const std::string& source, const PickleLimits& limits) {
  return PickleReader(bytes, source, limits).read();
}

}  // namespace annulus
