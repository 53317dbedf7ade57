//! `Random`: numbers that come again with the same seed.
(() => {
  // A linear congruential generator over 48 bits, taken apart so that every product is exact.
  const LOW = 0xdeece66d % 0x1000000, HIGH = Math.floor(0x5deece66d / 0x1000000);
  let low, high;

  const seed = value => {
    const whole = Math.abs(Math.floor(Number(value))) % 2 ** 48;
    low = (whole % 0x1000000) ^ 0xece66d;
    high = Math.floor(whole / 0x1000000) ^ 0x5de;
  };

  const next = () => {
    if (low === undefined) {
      throw new Error("The random number generator hasn't been seeded yet; call Random.setRandomSeed()");
    }
    const product = low * LOW + 11;
    const carry = Math.floor(product / 0x1000000);
    high = (high * LOW + low * HIGH + carry) % 0x1000000;
    low = product % 0x1000000;
    return (high * 0x1000000 + low) / 2 ** 48;
  };

  return {
    genExp(mean) {
      let drawn = next();
      if (drawn === 0) drawn = next();
      return -Math.log(drawn === 0 ? Number.MIN_VALUE : drawn) * mean;
    },
    genNormal(mean, deviation) {
      const radius = Math.sqrt(-2 * Math.log(1 - next()));
      return mean + deviation * radius * Math.cos(2 * Math.PI * next());
    },
    rand() { return next(); },
    randInt(limit) { return Math.floor(next() * limit); },
    setRandomFixtureSeed() { seed(5); },
    setRandomSeed(value) {
      const chosen = value === undefined ? Date.now() : value;
      shell.print("setting random seed: " + chosen);
      seed(chosen);
    },
    srand(value) {
      seed(value);
      return value;
    },
  };
})()
