//! The computer.
(() => {
  "use strict";
  const { Array } = shell.globals;
  const natives = shell.natives();
  const about = natives.about();
  const named = { linux: "Linux", darwin: "Darwin", win32: "Windows_NT", freebsd: "FreeBSD" };
  const machines = { x64: "x86_64", arm64: about.platform === "darwin" ? "arm64" : "aarch64", ia32: "i686" };

  return {
    EOL: about.platform === "win32" ? "\r\n" : "\n",
    devNull: about.platform === "win32" ? "\\\\.\\nul" : "/dev/null",
    arch: () => about.arch,
    availableParallelism: () => about.processors,
    cpus: () => Array.from({ length: about.processors }, () => {
      return { model: "", speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } };
    }),
    endianness: () => "LE",
    freemem: () => natives.memory().free,
    homedir: () => about.home,
    hostname: () => about.hostname,
    loadavg: () => [0, 0, 0],
    machine: () => machines[about.arch] ?? about.arch,
    networkInterfaces: () => ({}),
    platform: () => about.platform,
    release: () => about.release,
    tmpdir: () => about.temporary.replace(/(?!^)\/$/, ""),
    totalmem: () => natives.memory().total,
    type: () => named[about.platform] ?? about.platform,
    uptime: () => natives.memory().uptime,
    userInfo: () => ({ uid: -1, gid: -1, username: about.user, homedir: about.home, shell: null }),
    version: () => about.release,
  };
})()
