/* Preloaded into a process, hides what its processor can do: `PROCESSOR=AVX2` leaves no AVX-512, `PROCESSOR=AVX` no AVX2 and FMA either.

   XLA, YNNPACK, oneDNN and OpenBLAS choose their loops by the instruction `cpuid`, whatever XLA's own flag says, and each loop adds in
   another order. Linux lets `cpuid` fault (arch_prctl(2), ARCH_SET_CPUID) where the processor can; the fault is answered here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define ARCH_SET_CPUID 0x1012
#define BIT(n) (1u << (n))

enum { A, B, C, D };
static struct sigaction theirs;
static int (*system_sigaction)(int, const struct sigaction *, struct sigaction *);
static int avx2;

/* Bits by the numbers of Intel's manual, volume 2, CPUID: 7.0 holds AVX2, FMA's company and most of AVX-512, 7.1 the newest. */
static void hide(uint32_t leaf, uint32_t part, uint32_t r[4]) {
  if (leaf == 1 && !avx2) r[C] &= ~(BIT(12) | BIT(29)); /* FMA, F16C */
  if (leaf == 7 && part == 0) {
    r[B] &= ~(BIT(16) | BIT(17) | BIT(21) | BIT(26) | BIT(27) | BIT(28) | BIT(30) | BIT(31)); /* AVX-512 */
    r[C] &= ~(BIT(1) | BIT(6) | BIT(11) | BIT(12) | BIT(14));
    r[D] &= ~(BIT(2) | BIT(3) | BIT(8) | BIT(22) | BIT(23) | BIT(24) | BIT(25)); /* and AMX */
    if (!avx2) r[B] &= ~(BIT(3) | BIT(5) | BIT(8)), r[C] &= ~(BIT(8) | BIT(9) | BIT(10));
  }
  if (leaf == 7 && part > 0) memset(r, 0, 4 * sizeof *r);
  if (leaf == 0xd && part == 0) r[A] &= 7; /* registers that the system saves: x87, SSE, AVX */
  if (leaf == 0x19 || leaf == 0x1d || leaf == 0x1e || leaf == 0x24) memset(r, 0, 4 * sizeof *r);
}

static void on_fault(int number, siginfo_t *info, void *context) {
  greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
  if (info->si_code == SI_KERNEL && !memcmp((void *)g[REG_RIP], "\x0f\xa2", 2)) {
    uint32_t leaf = g[REG_RAX], part = g[REG_RCX], r[4];
    syscall(SYS_arch_prctl, ARCH_SET_CPUID, 1);
    __asm__ volatile("cpuid" : "=a"(r[A]), "=b"(r[B]), "=c"(r[C]), "=d"(r[D]) : "a"(leaf), "c"(part));
    syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0);
    hide(leaf, part, r);
    g[REG_RAX] = r[A], g[REG_RBX] = r[B], g[REG_RCX] = r[C], g[REG_RDX] = r[D], g[REG_RIP] += 2;
  } else if (theirs.sa_flags & SA_SIGINFO) {
    theirs.sa_sigaction(number, info, context);
  } else if (theirs.sa_handler != SIG_DFL && theirs.sa_handler != SIG_IGN) {
    theirs.sa_handler(number);
  } else {
    signal(SIGSEGV, SIG_DFL); /* the instruction faults again, and ends the process */
  }
}

static void find(void) {
  if (!system_sigaction) *(void **)&system_sigaction = dlsym(RTLD_NEXT, "sigaction");
}

/* Python's faulthandler, say, keeps its handler, below ours. */
int sigaction(int number, const struct sigaction *now, struct sigaction *before) {
  find();
  if (number != SIGSEGV) return system_sigaction(number, now, before);
  if (before) *before = theirs;
  if (now) theirs = *now;
  return 0;
}

__attribute__((constructor)) static void begin(void) {
  const char *name = getenv("PROCESSOR");
  if (!name) return;
  avx2 = !strcmp(name, "AVX2");
  find();
  struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
  if (system_sigaction(SIGSEGV, &ours, &theirs) || syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0)) {
    fputs("this processor, or its hypervisor, does not let `cpuid` fault\n", stderr);
    _exit(3);
  }
}
