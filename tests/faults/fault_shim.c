// A library to preload: makes the Nth call of one function fail, to see what a program makes of it.
//
// FAULT_CALL: open, read, write, fsync, rename, mmap, ftruncate, close or malloc. FAULT_NTH: which call, from 1; 0
// fails none. FAULT_ERRNO: the number of the error. FAULT_COUNT: a file that gets the number of calls when the program
// ends. Only calls that a program makes by name are seen: the C library's own go past it. Files of the system (/proc,
// /sys, /dev, libraries) do not count, nor does standard input, output and error.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long calls;
static long nth;
static int error_number;
static char wanted[16];
static char count_file[512];
static int ready;

__attribute__((constructor)) static void begin(void) {
  const char* call = getenv("FAULT_CALL");
  const char* number = getenv("FAULT_NTH");
  const char* error = getenv("FAULT_ERRNO");
  const char* count = getenv("FAULT_COUNT");
  if (call != NULL) strncpy(wanted, call, sizeof(wanted) - 1);
  if (count != NULL) strncpy(count_file, count, sizeof(count_file) - 1);
  nth = number != NULL ? atol(number) : 0;
  error_number = error != NULL ? atoi(error) : EIO;
  unsetenv("LD_PRELOAD");  // programs started from here are left alone
  ready = 1;
}

__attribute__((destructor)) static void end(void) {
  if (count_file[0] == '\0') return;
  char text[32];
  const int length = snprintf(text, sizeof(text), "%ld\n", (long)calls);
  const long file = syscall(SYS_openat, AT_FDCWD, count_file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) return;
  syscall(SYS_write, file, text, length);
  syscall(SYS_close, file);
}

// Whether this call is to fail; sets errno then.
static int fails(const char* name) {
  if (!ready || strcmp(wanted, name) != 0) return 0;
  if (atomic_fetch_add(&calls, 1) + 1 != nth) return 0;
  errno = error_number;
  return 1;
}

static int is_of_system(const char* path) {
  return path == NULL || strncmp(path, "/proc", 5) == 0 || strncmp(path, "/sys", 4) == 0 ||
         strncmp(path, "/dev", 4) == 0 || strncmp(path, "/usr", 4) == 0 || strncmp(path, "/etc", 4) == 0;
}

#define NEXT(name)               \
  static __typeof__(&name) next; \
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, #name)

#define OPEN(name)                                                                         \
  int name(const char* path, int flags, ...) {                                             \
    NEXT(name);                                                                            \
    va_list more;                                                                          \
    va_start(more, flags);                                                                 \
    const mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0; \
    va_end(more);                                                                          \
    return !is_of_system(path) && fails("open") ? -1 : next(path, flags, mode);            \
  }
OPEN(open)
OPEN(open64)

ssize_t read(int file, void* to, size_t size) {
  NEXT(read);
  return file > 2 && fails("read") ? -1 : next(file, to, size);
}
ssize_t pread(int file, void* to, size_t size, off_t at) {
  NEXT(pread);
  return fails("read") ? -1 : next(file, to, size, at);
}
ssize_t pread64(int file, void* to, size_t size, off64_t at) {
  NEXT(pread64);
  return fails("read") ? -1 : next(file, to, size, at);
}
ssize_t write(int file, const void* from, size_t size) {
  NEXT(write);
  return file > 2 && fails("write") ? -1 : next(file, from, size);
}
ssize_t pwrite(int file, const void* from, size_t size, off_t at) {
  NEXT(pwrite);
  return fails("write") ? -1 : next(file, from, size, at);
}
ssize_t pwrite64(int file, const void* from, size_t size, off64_t at) {
  NEXT(pwrite64);
  return fails("write") ? -1 : next(file, from, size, at);
}
int fsync(int file) {
  NEXT(fsync);
  return fails("fsync") ? -1 : next(file);
}
int fdatasync(int file) {
  NEXT(fdatasync);
  return fails("fsync") ? -1 : next(file);
}
int rename(const char* from, const char* to) {
  NEXT(rename);
  return fails("rename") ? -1 : next(from, to);
}
int ftruncate(int file, off_t size) {
  NEXT(ftruncate);
  return fails("ftruncate") ? -1 : next(file, size);
}
int ftruncate64(int file, off64_t size) {
  NEXT(ftruncate64);
  return fails("ftruncate") ? -1 : next(file, size);
}
// The file is closed all the same, as the system does it.
int close(int file) {
  NEXT(close);
  const int result = next(file);
  return file > 2 && fails("close") ? -1 : result;
}
void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  NEXT(mmap);
  return file >= 0 && fails("mmap") ? MAP_FAILED : next(at, size, protection, flags, file, offset);
}
void* mmap64(void* at, size_t size, int protection, int flags, int file, off64_t offset) {
  NEXT(mmap64);
  return file >= 0 && fails("mmap") ? MAP_FAILED : next(at, size, protection, flags, file, offset);
}

// libcrypto ends the program where its own start lacks memory (it locks a lock that it could not make); nobody who calls
// it can help that, so its calls of malloc do not count.
static const char* crypto_begin;
static const char* crypto_end;

static int find_crypto(struct dl_phdr_info* library, size_t size, void* unused) {
  (void)size;
  (void)unused;
  if (library->dlpi_name == NULL || strstr(library->dlpi_name, "libcrypto.so") == NULL) return 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &library->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0) continue;
    crypto_begin = (const char*)(library->dlpi_addr + part->p_vaddr);
    crypto_end = crypto_begin + part->p_memsz;
  }
  return 1;
}

__attribute__((constructor)) static void begin_malloc(void) { dl_iterate_phdr(find_crypto, NULL); }

extern void* __libc_malloc(size_t size);
void* malloc(size_t size) {
  const char* caller = __builtin_return_address(0);
  const int is_crypto = caller >= crypto_begin && caller < crypto_end;
  return !is_crypto && fails("malloc") ? NULL : __libc_malloc(size);
}
