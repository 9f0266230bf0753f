// A filter of system calls by libseccomp.
#include "server/decode/sandbox.h"

#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <memory>
#include <system_error>

#include "annulus/base/error.h"

namespace annulus::server {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

[[noreturn]] void reject_filter(int error) {
  fail(ErrorKind::kIo, "the kernel refused a filter of system calls: {}",
       std::error_code(error, std::generic_category()).message());
}

// A filter under construction: whatever no rule names ends the process.
class SystemCalls {
 public:
  SystemCalls() : filter_(seccomp_init(SCMP_ACT_KILL_PROCESS), seccomp_release) {
    // Where libseccomp may not ask the kernel what it knows: the thread ends, and its process with it or at its
    // deadline.
    if (!filter_) filter_.reset(seccomp_init(SCMP_ACT_KILL_THREAD));
    if (!filter_) reject_filter(ENOSYS);
  }
  void allow(int call) { check(seccomp_rule_add_array(filter_.get(), SCMP_ACT_ALLOW, call, 0, nullptr)); }
  void allow(int call, scmp_arg_cmp condition) {
    check(seccomp_rule_add_array(filter_.get(), SCMP_ACT_ALLOW, call, 1, &condition));
  }
  void allow(int call, scmp_arg_cmp first, scmp_arg_cmp second) {
    const scmp_arg_cmp conditions[] = {first, second};
    check(seccomp_rule_add_array(filter_.get(), SCMP_ACT_ALLOW, call, 2, conditions));
  }
  // The call fails, as if the process had not the right to it.
  void refuse(int call, std::uint16_t error = EACCES) {
    check(seccomp_rule_add_array(filter_.get(), SCMP_ACT_ERRNO(error), call, 0, nullptr));
  }
  void load() { check(seccomp_load(filter_.get())); }

 private:
  static void check(int code) {
    // A call that this processor does not have needs no rule.
    if (code < 0 && code != -EDOM) reject_filter(-code);
  }
  std::unique_ptr<void, void (*)(scmp_filter_ctx)> filter_;
};

// A bit of an argument that has to be as it is in `wanted`.
scmp_arg_cmp bits(unsigned argument, scmp_datum_t mask, scmp_datum_t wanted) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, wanted};
}

scmp_arg_cmp equals(unsigned argument, scmp_datum_t value) { return {argument, SCMP_CMP_EQ, value, 0}; }

void allow_memory(SystemCalls& calls) {
  // No file, and nothing that could be executed.
  calls.allow(SCMP_SYS(mmap), bits(2, PROT_EXEC, 0), bits(3, MAP_ANONYMOUS, MAP_ANONYMOUS));
  calls.allow(SCMP_SYS(mprotect), bits(2, PROT_EXEC, 0));
  for (const int call : {SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(futex)}) {
    calls.allow(call);
  }
}

// libde265 and dav1d start threads of their own. The flags of clone3 are out of a filter's sight: without it, the
// system's library takes clone.
void allow_threads(SystemCalls& calls) {
  constexpr scmp_datum_t kOfAThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
  constexpr scmp_datum_t kOfAWorld =
      CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
  calls.refuse(SCMP_SYS(clone3), ENOSYS);
  calls.allow(SCMP_SYS(clone), bits(0, kOfAThread | kOfAWorld, kOfAThread));
  for (const int call : {SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(sched_getaffinity)}) calls.allow(call);
}

void allow_time_and_end(SystemCalls& calls) {
  for (const int call :
       {SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep),
        SCMP_SYS(restart_syscall), SCMP_SYS(sched_yield), SCMP_SYS(getrandom), SCMP_SYS(rt_sigreturn),
        SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigaction), SCMP_SYS(sigaltstack), SCMP_SYS(gettid), SCMP_SYS(getpid),
        SCMP_SYS(exit), SCMP_SYS(exit_group)}) {
    calls.allow(call);
  }
  // abort() sends itself a signal.
  calls.allow(SCMP_SYS(tgkill), equals(0, static_cast<scmp_datum_t>(::getpid())));
}

// Libraries that look whether there is a file of settings, a terminal or a name for a thread go on without.
void refuse_files(SystemCalls& calls) {
  for (const int call : {SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(openat2), SCMP_SYS(stat), SCMP_SYS(lstat),
                         SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(access), SCMP_SYS(faccessat),
                         SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(lseek),
                         SCMP_SYS(ioctl), SCMP_SYS(prctl), SCMP_SYS(uname), SCMP_SYS(sysinfo)}) {
    calls.refuse(call);
  }
}

void set_limit(__rlimit_resource resource, rlim_t most) {
  const rlimit limit{most, most};
  if (::setrlimit(resource, &limit) != 0) {
    fail(ErrorKind::kIo, "the kernel refused a limit of a process: {}",
         std::error_code(errno, std::generic_category()).message());
  }
}

}  // namespace

void confine_process(int descriptor) {
  if (kSanitized) return;
  SystemCalls calls;
  calls.allow(SCMP_SYS(read), equals(0, static_cast<scmp_datum_t>(descriptor)));
  calls.allow(SCMP_SYS(write), equals(0, static_cast<scmp_datum_t>(descriptor)));
  // What libraries say goes nowhere, but is no reason to end.
  calls.allow(SCMP_SYS(write), equals(0, STDERR_FILENO));
  allow_memory(calls);
  allow_threads(calls);
  allow_time_and_end(calls);
  refuse_files(calls);
  calls.load();
}

void limit_process(std::size_t memory_bytes) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  set_limit(RLIMIT_CORE, 0);
  if (!kSanitized) set_limit(RLIMIT_DATA, memory_bytes);
}

}  // namespace annulus::server
