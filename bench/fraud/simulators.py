"""Simulated transactions with known bad accounts: fan-in and cycles, cards, a chain. The same seed gives the same rows.

Each function returns the rows in the order of time, with the columns `time`, `source`, `target`, `amount`, and the ids of
the bad. Honest accounts have parts of the same form (collectors, large purchases, chains), so that no single number tells
them apart.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.special import ndtri

FIRST_DAY = pd.Timestamp("2024-01-01")


@dataclass
class Ledger:
    """Rows as they are drawn: days since the first day, payer, payee, amount."""

    days: list[np.ndarray] = field(default_factory=list)
    sources: list[np.ndarray] = field(default_factory=list)
    targets: list[np.ndarray] = field(default_factory=list)
    amounts: list[np.ndarray] = field(default_factory=list)

    def pay(self, days, sources, targets, amounts) -> None:
        """Adds one row or many; scalars are repeated."""
        rows = np.broadcast_arrays(*map(np.atleast_1d, (days, sources, targets, amounts)))
        for column, values in zip((self.days, self.sources, self.targets, self.amounts), rows):
            column.append(values)

    def frame(self, length: float) -> pd.DataFrame:
        """All rows before day `length`, in the order of time, to the second, all of them at the hours of `by_day`."""
        days, sources, targets, amounts = map(
            np.concatenate, (self.days, self.sources, self.targets, self.amounts)
        )
        days = by_day(days)
        rows = pd.DataFrame(
            {
                "time": FIRST_DAY + pd.to_timedelta((days * 86400).astype(np.int64), unit="s"),
                "source": sources,
                "target": targets,
                "amount": amounts.clip(0.01).round(2),
            }
        )
        return rows[days < length].sort_values("time", kind="stable", ignore_index=True)


def fan_in_and_cycles(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Payments of habit, among them mules that pay a collector, and cycles that pass on nearly all of an amount."""
    accounts, length = 8000, 90.0
    rng = np.random.default_rng(seed)
    ledger = Ledger()
    add_habits(ledger, rng, np.arange(accounts), length, partners=2.5)
    # Payments out of no habit, of amounts as the mules have.
    single = 4 * accounts
    days, ends = rng.uniform(0, length, single), rng.integers(0, accounts, (2, single))
    ledger.pay(days, *ends, rng.lognormal(5.2, 1.0, single))
    free = iter(rng.permutation(accounts))
    bad = []
    for is_bad in [True] * 22 + [False] * 11:
        collector, *mules = take(free, rng.integers(9, 17))
        day = rng.uniform(3, length - 8)
        # An honest collector, the treasurer of a club, has members who pay from their own money, with less haste.
        haste = 2.0 if is_bad else 6.0
        total = 0.0
        for mule in mules:
            amount, at = rng.lognormal(5.2, 0.6), day + rng.uniform(0, haste)
            if is_bad:
                ledger.pay(at - rng.uniform(0, 1), rng.integers(accounts), mule, amount)
                amount *= rng.uniform(0.9, 1)
            ledger.pay(at, mule, collector, amount)
            total += amount
        ledger.pay(day + haste + rng.uniform(0, 1), collector, rng.integers(accounts), total * rng.uniform(0.9, 1))
        bad += [collector, *mules] if is_bad else []
    for _ in range(22):
        members = take(free, rng.integers(4, 7))
        for _ in range(rng.integers(1, 3)):
            at, amount = rng.uniform(0, length - 6), rng.lognormal(6.0, 0.7)
            for payer, payee in zip(members, [*members[1:], members[0]]):
                ledger.pay(at, payer, payee, amount)
                at, amount = at + rng.uniform(0.1, 1), amount * rng.uniform(0.95, 0.99)
        bad += members
    return ledger.frame(length), np.array(bad)


def cards(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Payments by card; of a stolen card, some within two days are far above what it usually pays."""
    number, merchants, stolen, length = 12_000, 2_500, 120, 60.0
    rng = np.random.default_rng(seed)
    ledger = Ledger()
    popularity = rng.pareto(1.2, merchants) + 0.1
    popularity /= popularity.sum()
    usual = rng.lognormal(3.2, 0.8, number)
    counts = rng.poisson(rng.lognormal(2.3, 0.6, number)) + 1
    owners = np.repeat(np.arange(number), counts)
    favourites = rng.choice(merchants, (number, 6), p=popularity)
    shops = favourites[owners, rng.integers(0, 6, len(owners))]
    elsewhere = rng.random(len(owners)) < 0.25
    shops[elsewhere] = rng.choice(merchants, elsewhere.sum(), p=popularity)
    amounts = usual[owners] * rng.lognormal(0, 0.6, len(owners))
    # Honest large purchases are single ones.
    amounts[rng.random(len(owners)) < 0.03] *= rng.uniform(3, 10)
    ledger.pay(rng.uniform(0, length, len(owners)), owners, shops, amounts)
    bad = rng.choice(np.flatnonzero(counts >= 5), stolen, replace=False)
    for card in bad:
        uses = rng.integers(4, 9)
        days = rng.uniform(10, length - 2) + rng.uniform(0, 2, uses)
        ledger.pay(days, card, rng.choice(merchants, uses, p=popularity), usual[card] * rng.uniform(4, 15, uses))
    return ledger.frame(length), bad


def chain(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Money that moves through trees of fresh accounts. Stolen money enters some trees on the way: the account that gets it is
    bad, and so is who is paid by a bad account, unless it has more money from elsewhere.
    """
    accounts, length = 30_000, 120.0
    rng = np.random.default_rng(seed)
    ledger = Ledger()
    order = rng.permutation(accounts)
    settled, fresh = order[: accounts * 2 // 3], iter(order[accounts * 2 // 3 :])
    add_habits(ledger, rng, settled, length, partners=1.2)
    popular = rng.choice(settled, 300)
    bad = []
    for _ in range(220):
        level = [(next(fresh), rng.uniform(1, length - 30), rng.uniform(5e3, 5e4), False)]
        for depth in range(rng.integers(4, 7)):
            following = []
            for account, at, amount, is_bad in level:
                if depth == 0 or (not is_bad and rng.random() < 0.5):
                    ledger.pay(at - rng.uniform(0, 1), rng.choice(settled), account, amount * rng.uniform(0.2, 0.8))
                if depth > 0 and not is_bad and rng.random() < 0.06:
                    stolen = amount * rng.uniform(1.2, 4)
                    ledger.pay(at - rng.uniform(0, 1), rng.choice(settled), account, stolen)
                    amount, is_bad = amount + stolen, True
                bad += [account] if is_bad else []
                payees = take(fresh, rng.integers(1, 4))
                for payee, share in zip(payees, rng.dirichlet(np.full(len(payees), 4))):
                    later, part, inherits = at + rng.exponential(1.5), share * amount * rng.uniform(0.85, 0.97), is_bad
                    ledger.pay(later, account, payee, part)
                    if is_bad and rng.random() < 0.25:
                        clean = part * rng.uniform(1.1, 3)
                        ledger.pay(later - rng.uniform(0, 1), rng.choice(settled), payee, clean)
                        part, inherits = part + clean, False
                    following.append((payee, later, part, inherits))
                # Small payments to shops and friends, who inherit nothing.
                for _ in range(rng.integers(1, 4)):
                    shop = rng.choice(popular) if rng.random() < 0.6 else rng.choice(settled)
                    ledger.pay(at + rng.exponential(3), account, shop, amount * rng.uniform(0.005, 0.04))
            level = following[:6]
            bad += [account for account, _, _, is_bad in following[6:] if is_bad]
        bad += [account for account, _, _, is_bad in level if is_bad]
    return ledger.frame(length), np.array(bad)


SIMULATORS: dict[str, Callable[[int], tuple[pd.DataFrame, np.ndarray]]] = {
    "fan": fan_in_and_cycles,
    "cards": cards,
    "chain": chain,
}


def add_habits(ledger: Ledger, rng: np.random.Generator, accounts: np.ndarray, length: float, partners: float) -> None:
    """Regular payments: each account to a few others, mostly of its group of 40, some to popular accounts."""
    owners = np.repeat(np.arange(len(accounts)), rng.geometric(1 / partners, len(accounts)))
    near = owners // 40 * 40 + rng.integers(0, 40, len(owners))
    popularity = rng.pareto(1.3, len(accounts)) + 0.05
    far = rng.choice(len(accounts), len(owners), p=popularity / popularity.sum())
    payees = np.where(rng.random(len(owners)) < 0.7, near.clip(max=len(accounts) - 1), far)
    gap = rng.uniform(5, 31, len(owners))
    usual = rng.lognormal(4, 1, len(owners))
    for turn in range(int(length / 5)):
        days = gap * (turn + rng.random(len(owners)) * 0.3) + gap * 0.5
        goes_on = (days < length) & (payees != owners)
        amounts = usual[goes_on] * rng.lognormal(0, 0.25, goes_on.sum())
        ledger.pay(days[goes_on], accounts[owners[goes_on]], accounts[payees[goes_on]], amounts)


def by_day(days: np.ndarray) -> np.ndarray:
    """The same days at times from 7 to 22, most of them about 14; within a day, the order is kept."""
    whole = np.floor(days)
    return whole + (14 + 3 * ndtri((days - whole).clip(1e-9, 1 - 1e-9))).clip(7, 22) / 24


def take(pool, count: int) -> list[int]:
    return [int(next(pool)) for _ in range(count)]
