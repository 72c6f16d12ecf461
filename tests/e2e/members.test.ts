// What a file holds, each in a tab of its own. What is in vadd.3arch+ptx is what `cuobjdump -lelf -lptx` lists: cubins for sm_80, sm_90
// and sm_120, and PTX for sm_80; package.whl has an archive with a host object with a fatbin (make_containers.py).

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Download, Page } from '@playwright/test';
import { axe, drop, goTo, show, VADD } from './page.ts';
import { expect, test } from './site.ts';

const FATBIN = 'tests/fixtures/nvidia/fatbin/vadd.3arch+ptx.default.13.5.fatbin';
const title = (page: Page) => page.locator('kernel-scope-identity h1');
const facts = (page: Page) => page.locator('kernel-scope-identity .facts');
const crumbs = (page: Page) => page.getByRole('navigation', { name: 'What it lies in' });
const tabs = (page: Page) => page.getByRole('region', { name: 'Files', exact: true }).getByRole('tab');
const members = (page: Page) => page.locator('kernel-scope-panel').getByRole('treegrid', { name: 'Members' });
const where = (page: Page) => page.locator('kernel-scope-hex .where');

const STORED = 'tests/fixtures/nvidia/fatbin/vadd.3arch+ptx.none.13.5.fatbin';

interface Fact {
  name: string;
  sha256: string;
}

const sumsOf = (facts: readonly Fact[]) => Object.fromEntries(facts.map(({ name, sha256 }) => [name, sha256]));
const sums = (files: Record<string, Buffer>) =>
  Object.fromEntries(
    Object.entries(files).map(([name, bytes]) => [name, createHash('sha256').update(bytes).digest('hex')]),
  );

/** What Python's zipfile finds in it, with its CRC-32 checked. */
function unzipped(path: string): Record<string, string> {
  const script =
    'import hashlib, json, sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(json.dumps({n: hashlib.sha256(z.read(n)).hexdigest() for n in z.namelist()}))';
  return JSON.parse(execFileSync('python3', ['-c', script, path], { encoding: 'utf8' }));
}

/** What is saved by an item of the table's menu. */
async function saved(page: Page, item: string): Promise<Download> {
  await page.getByRole('button', { name: 'Save Members' }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: item }).click();
  return download;
}

test.describe.configure({ timeout: 90_000 });

test('a fatbin says its architectures, opens its members, and they lead back', async ({ page }) => {
  await page.goto('./');
  await drop(page, FATBIN);
  const archs = page.getByRole('table', { name: 'Architectures' });
  await expect(archs.locator('tbody td:first-child')).toHaveText(['sm_80', 'sm_90', 'sm_120', 'sm_80']);
  await page.getByRole('table', { name: 'Members' }).getByRole('button', { name: '2', exact: true }).click();
  await expect(title(page)).toHaveText('2');
  await expect(facts(page)).toContainText('sm_120');
  await expect(page.locator('kernel-scope-kernel')).toContainText('vadd');
  await expect(tabs(page)).toHaveText([/vadd/, /^2 of vadd/]);
  await expect.poll(() => new URL(page.url()).hash).toContain('member=2&view=summary');
  await axe(page);

  // Back in the table, at its row, and from there by keyboard to where it is open already.
  await crumbs(page).getByRole('button').click();
  const grid = members(page);
  await expect(grid.locator('.row').nth(2).locator('.at')).toBeVisible();
  await grid.focus();
  await grid.press('Home');
  await grid.press('Enter');
  await expect(title(page)).toHaveText('2');
  await expect(tabs(page)).toHaveCount(2);

  // It does not need its file to be open, which is opened again for whoever goes there; dark and narrow as well.
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('button', { name: /^Close vadd/ }).click();
  await expect(title(page)).toHaveText('2');
  await axe(page);
  await crumbs(page).getByRole('button').click();
  await expect(grid).toBeVisible();
});

test('an address names a member, in what is in a file', async ({ page }) => {
  await page.route('**/package.whl', (route) => route.fulfill({ path: 'tests/fixtures/container/package.whl' }));
  const path = 'package/libscale.a!/stripped.o!/0!/0';
  await page.goto(`./#src=package.whl&member=${path}&view=sections`);
  await expect(crumbs(page)).toHaveText(/package.whl\s*› package\/libscale.a\s*› stripped.o\s*› 0\s*›/);
  await expect(facts(page)).toContainText('sm_86');
  await expect(page.getByRole('grid', { name: 'Sections' })).toBeVisible();
  await page.waitForTimeout(1000);
  await crumbs(page).getByRole('button', { name: 'stripped.o' }).click();
  await expect(title(page)).toHaveText('stripped.o');
  await expect.poll(() => new URL(page.url()).hash).toContain('member=package/libscale.a!/stripped.o&');
  await page.goBack();
  await expect(facts(page)).toContainText('sm_86');
});

test('members of a compressed bundle open', async ({ page }) => {
  await page.goto('./');
  await drop(page, 'tests/fixtures/amdgpu/con/three.ccob-v3-zstd.hipfb');
  await show(page, 'Members');
  await members(page).locator('.row', { hasText: 'gfx' }).first().getByRole('button').first().click();
  await expect(facts(page)).toContainText(/AMD code object · gfx/);
  await expect(page.getByRole('navigation').getByRole('treeitem', { name: 'Kernels' }).first()).toBeVisible();
});

test('members stand in a tree, and sorted with their paths', async ({ page }) => {
  await page.goto('./');
  await drop(page, 'tests/fixtures/container/package.whl');
  await show(page, 'Members');
  const row = (name: string | RegExp) =>
    members(page)
      .getByRole('row')
      .filter({ has: page.getByRole('button', { name }) });
  await expect(row('stripped.o')).toHaveAttribute('aria-level', '2');
  await expect(row('stripped.o')).toHaveAttribute('aria-expanded', 'true');
  await row('package/libscale.a').locator('.fold').click();
  await expect(row('stripped.o')).toHaveCount(0);
  await members(page).press('ArrowRight');
  await expect(row('stripped.o')).toBeVisible();
  await page.getByLabel('Filter Members').fill('cubin sm_86');
  const first = members(page).getByRole('button', { name: 'package/libscale.a!/stripped.o!/0!/0' });
  await first.click();
  await expect(facts(page)).toContainText('sm_86');
});

// `grep -abo` finds the ELF magic of the second member at 3640, 0xe38.
test('a member counts in itself and in the file that it lies in', async ({ page }) => {
  await page.goto('./');
  await drop(page, STORED);
  await show(page, 'Members');
  await members(page).getByRole('button', { name: '1', exact: true }).click();
  await expect(title(page)).toHaveText('1');
  await goTo(page, '0x10');
  await expect(where(page)).toContainText('member 0x10 · 0xe48 in vadd.3arch');
  await expect(page.locator('kernel-scope-diagram .head')).toContainText('at 0x0 · 0xe38 in vadd.3arch');
  await goTo(page, 'file:0xe40');
  await expect(where(page)).toContainText('member 0x8');
  await goTo(page, 'file:0xe37');
  await expect(page.locator('kernel-scope-hex').getByRole('alert')).toContainText('begins at 0xe38');
  await goTo(page, '0x8');
  await where(page).getByRole('button', { name: '0xe40 in' }).click();
  await expect(title(page)).toHaveText(/^vadd/);
  await expect(where(page)).toContainText('file 0xe40');
  // What was unpacked lies nowhere.
  await drop(page, FATBIN);
  await show(page, 'Members');
  await members(page).getByRole('button', { name: '1', exact: true }).click();
  await expect(where(page)).toContainText('unpacked from vadd.3arch');
});

// The sums of what cuobjdump extracts (facts.json).
test('members are saved as files: one, those that are left, all', async ({ page }) => {
  const facts = JSON.parse(await readFile('tests/fixtures/facts.json', 'utf8')).fatbins;
  for (const file of [FATBIN, STORED]) {
    const extracted: Fact[] = facts[file.slice('tests/fixtures/'.length)].extracted;
    await page.goto('./');
    await drop(page, file);
    await show(page, 'Members');
    await members(page).getByRole('row').nth(2).getByRole('gridcell').nth(1).click();
    const one = await saved(page, 'The selected one…');
    expect(sums({ [one.suggestedFilename()]: await readFile(await one.path()) })).toEqual(
      sumsOf(extracted.filter(({ name }) => name.includes('2.sm_90'))),
    );
    const all = await saved(page, 'All as a zip file…');
    expect(all.suggestedFilename()).toBe(`${basename(file)}.members.zip`);
    expect(unzipped(await all.path())).toEqual(sumsOf(extracted));
    await page.getByLabel('Filter Members').fill('cubin');
    await expect(members(page).getByRole('row')).toHaveCount(4);
    const some = await saved(page, '3 that are left as a zip file…');
    expect(unzipped(await some.path())).toEqual(sumsOf(extracted.filter(({ name }) => name.endsWith('.cubin'))));
    await expect(page.getByText('3 members saved')).toBeVisible();
  }
  // From the member's own tab, under the same name.
  await members(page).getByRole('button', { name: '2', exact: true }).click();
  await expect(title(page)).toHaveText('2');
  await page.getByRole('button', { name: 'What else can be done' }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'Save this member as a file…' }).click();
  expect((await download).suggestedFilename()).toBe('vadd.3arch+ptx.none.13.5.3.sm_120.cubin');
});

test('an element opens a member, and says so', async ({ page }) => {
  await page.route('**/package.whl', (route) => route.fulfill({ path: 'tests/fixtures/container/package.whl' }));
  await page.goto('./examples/embed.html');
  const said = page.evaluate(
    () =>
      new Promise((resolve) => {
        const element = document.createElement('kernel-scope');
        element.setAttribute('src', '../package.whl');
        element.setAttribute('member', 'package/libscale.a!/stripped.o');
        const heard: unknown[] = [];
        element.addEventListener('opened', (event) => {
          heard.push((event as CustomEvent).detail);
          if (heard.length === 2) resolve(heard);
        });
        document.body.append(element);
      }),
  );
  const element = page.locator('kernel-scope').nth(2);
  await expect(element.locator('kernel-scope-identity h1')).toHaveText('stripped.o');
  expect(await said).toEqual([
    { name: 'package.whl', member: null },
    { name: 'stripped.o', member: 'package/libscale.a!/stripped.o' },
  ]);
  await element.evaluate((one) => one.setAttribute('member', 'package/scale.cubin'));
  await expect(element.locator('kernel-scope-identity h1')).toHaveText('package/scale.cubin');
  await element.evaluate((one) => one.removeAttribute('member'));
  await expect(element.locator('kernel-scope-identity h1')).toHaveText('package.whl');
});

test('few members are opened unasked, and what that tells fills in', async ({ page }) => {
  await page.goto('./');
  await drop(page, FATBIN);
  const archs = page.getByRole('table', { name: 'Architectures' });
  // vadd is the only kernel of each cubin (cuobjdump -elf), and the only entry of the text (cuobjdump -ptx).
  await expect(archs.locator('tbody td:last-child')).toHaveText(['1', '1', '1', '1']);
  await expect(page.getByRole('button', { name: 'Pause' })).toBeHidden();
  await show(page, 'Kernels of all members');
  await expect(page.getByRole('grid', { name: 'Kernels of all members' }).locator('.row')).toHaveCount(3);
  // One name, with a column for each architecture, whose cell leads to the kernel in its member.
  await show(page, 'Kernels across members');
  const across = page.getByRole('grid', { name: 'Kernels across members' });
  await expect(across.locator('.row')).toHaveCount(1);
  await expect(across.locator('.title')).toContainText(['sm_80', 'sm_90', 'sm_120']);
  await expect(across.locator('.title').last()).toContainText('compute_80');
  await axe(page);
  const cells = across.locator('.row .link');
  await expect(cells.last()).toHaveText('PTX');
  await cells.nth(-2).click();
  await expect(facts(page)).toContainText('sm_120');
  await expect(page.locator('kernel-scope-kernels kernel-scope-kernel')).toContainText('vadd');
  // PTX leads to its text.
  await crumbs(page).getByRole('button').click();
  await show(page, 'Kernels across members');
  await cells.last().click();
  await expect(page.locator('kernel-scope-texts')).toContainText('.version');
});

test('GPU code that no header tells of is looked for, and opens', async ({ page }) => {
  await page.goto('./');
  const cubin = await readFile(VADD);
  const path = test.info().outputPath('driver.bin');
  await writeFile(path, Buffer.concat([Buffer.alloc(100, 7), cubin, Buffer.alloc(50, 7)]));
  await drop(page, path);
  await page.getByRole('button', { name: 'Look through the whole file for GPU code' }).click();
  await expect(page.getByRole('table', { name: 'Architectures' })).toContainText('sm_90');
  await show(page, 'Members');
  await expect(page.getByRole('status')).toContainText(['one member was found that no header tells of']);
  await axe(page);
  // Its name is its offset, which stands beside it and leads to its bytes.
  const grid = page.getByRole('treegrid', { name: 'Members' });
  await grid
    .getByRole('button', { name: '0x64' })
    .and(grid.getByTitle(/^Open it/))
    .click();
  await expect(facts(page)).toContainText('sm_90a');
  await expect.poll(() => new URL(page.url()).hash).toContain('member=0x64');
});

// 1 GiB of zeros is about a megabyte deflated (RFC 1951: 258 bytes for two bits): long enough to be given up while it is unpacked.
test('opening a large member is given up, and others are answered meanwhile', async ({ page }) => {
  const path = test.info().outputPath('large.whl');
  const script =
    'import sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as z:\n z.write(sys.argv[2], "vadd.cubin")\n with z.open("zeros.bin", "w") as f:\n  for _ in range(1000): f.write(bytes(1 << 20))';
  execFileSync('python3', ['-c', script, path, VADD]);
  await page.goto('./');
  await drop(page, path);
  await show(page, 'Members');
  await members(page).getByRole('button', { name: 'zeros.bin' }).click();
  const notice = page.getByRole('status').filter({ hasText: 'opening zeros.bin' });
  await expect(notice).toContainText(/, \d+%/);
  // Meanwhile the bytes of another place are shown.
  await goTo(page, '0x4');
  await expect(where(page)).toContainText('file 0x4');
  await notice.getByRole('button', { name: 'Cancel' }).click();
  await expect(notice).toHaveCount(0);
  await expect(title(page)).toHaveText('large.whl');
  await expect(page.getByRole('alert')).toHaveCount(0);
  await page.getByLabel('Filter Members').fill('cubin');
  await expect(members(page).getByRole('row')).toHaveCount(2);
  await members(page).getByRole('button', { name: 'vadd.cubin' }).click();
  await expect(facts(page)).toContainText('sm_90a');
  await expect(tabs(page)).toHaveText([/^large.whl/, /^vadd.cubin/]);
});

/** A zip file that Python's zipfile makes: lines of Python, in which `z` is that file. */
async function dropZip(page: Page, path: string, ...lines: string[]): Promise<void> {
  const script = [
    'import sys, zipfile',
    "with zipfile.ZipFile(sys.argv[1], 'w') as z:",
    ...lines.map((line) => `    ${line}`),
  ];
  execFileSync('python3', ['-c', script.join('\n'), path]);
  await drop(page, path);
}

// A name in a zip file has at most 65,535 bytes. What is in this one acts nowhere: it is text, in whatever shows it.
test('a member with the longest of names opens, and the name is only text', async ({ page }, testInfo) => {
  await page.goto('./');
  const begin = "'../\\x1b[31m\\r\\n<b>' + '\\u202e'";
  await dropZip(
    page,
    testInfo.outputPath('long.zip'),
    `begin = ${begin}`,
    "name = begin + '/'.join(['d' * 99] * 655) + 'e' * 9 + '.cubin'",
    "name = name[:-6] + 'f' * (65535 - len(name.encode())) + '.cubin'",
    'assert len(name.encode()) == 65535',
    `z.write(${JSON.stringify(VADD)}, name)`,
  );
  await show(page, 'Members');
  await expect(members(page).locator('.row')).toHaveCount(1);
  await members(page).focus();
  await members(page).press('Home');
  await members(page).press('ArrowDown');
  await members(page).press('Enter');
  await expect(facts(page)).toContainText('sm_90a');
  await expect(title(page)).toContainText('../\\u{1b}[31m\\u{d}\\u{a}<b>\\u{202e}ddd');
  await expect(tabs(page)).toHaveCount(2);
  await expect.poll(() => new URL(page.url()).hash.length).toBeGreaterThan(65_535);
  // Back in the history it is shown again, and from the summary it opens as well.
  // Steps within 900 ms are one step back.
  await page.waitForTimeout(1000);
  await crumbs(page).getByRole('button').click();
  await expect(title(page)).toHaveText('long.zip');
  await expect.poll(() => new URL(page.url()).hash.length).toBeLessThan(1000);
  await page.goBack();
  await expect(facts(page)).toContainText('sm_90a');
  await page.getByRole('button', { name: /^Close .*ddd/ }).click();
  await show(page, 'Summary');
  await page.getByRole('table', { name: 'Members', exact: true }).getByRole('button').click();
  await expect(facts(page)).toContainText('sm_90a');
});

// The CRC-32 of each is broken in the directory (APPNOTE.TXT 4.3.12: 16 bytes into the entry).
test('what is said of a file goes with it, and says which members are not as they should be', async ({
  page,
}, testInfo) => {
  await page.goto('./');
  await dropZip(
    page,
    testInfo.outputPath('broken.zip'),
    "[z.writestr(f'{i}.cubin', bytes([i]) * 99, zipfile.ZIP_DEFLATED) for i in range(5)]",
    'for one in z.filelist: one.CRC ^= 1',
    `z.write(${JSON.stringify(VADD)}, 'good.cubin')`,
  );
  await show(page, 'Members');
  const notices = page.getByRole('alert').filter({ hasText: 'Not all members are as they should be' });
  await saved(page, 'All as a zip file…');
  await expect(notices).toContainText(/0\.cubin \(.*\); 1\.cubin \(.*\); 2\.cubin \(.*\); and 2 more/);
  await axe(page);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await notices.getByRole('button', { name: 'Copy all' }).click();
  await expect
    .poll(() => page.evaluate(() => navigator.clipboard.readText()))
    .toMatch(/^0\.cubin\t[^\n]*\n1.*\n2.*\n3.*\n4\.cubin\t[^\n]*$/);
  await members(page).getByRole('button', { name: 'good.cubin' }).click();
  await expect(title(page)).toHaveText('good.cubin');
  await expect(notices).toHaveCount(0);
  await crumbs(page).getByRole('button').click();
  await expect(title(page)).toHaveText('broken.zip');
  await expect(notices).toHaveCount(0);
  // It goes when it succeeds, too.
  await saved(page, 'All as a zip file…');
  await expect(notices).toHaveCount(1);
  await members(page).locator('.row', { hasText: 'good.cubin' }).getByRole('gridcell').nth(1).click();
  await saved(page, 'The selected one…');
  await expect(notices).toHaveCount(0);
});

test('what only opening members tells says that they are not open yet', async ({ page }, testInfo) => {
  await page.goto('./');
  // With 65 MiB of zeros behind it, it is more than is opened without being asked for.
  await dropZip(
    page,
    testInfo.outputPath('large.zip'),
    `fatbin = open(${JSON.stringify(FATBIN)}, 'rb').read()`,
    "z.writestr('a.fatbin', fatbin)",
    "z.writestr('b.fatbin', fatbin + bytes(65 << 20), zipfile.ZIP_DEFLATED)",
  );
  // What only the packed one tells is what they are opened for, and the answer that headers give is not the last.
  const strip = page.locator('kernel-scope-survey');
  const purpose = 'for what is in them: architectures, kernels';
  await expect(strip).toContainText(purpose);
  const early = page.getByText('Not all members are opened yet: they may have more.');
  await expect(early).toBeVisible();
  await show(page, 'Members');
  await expect(strip).toContainText(purpose);
  await axe(page);
  const none = page.locator('kernel-scope-panel .none');
  await show(page, 'Missing kernels');
  await expect(none).toHaveText(
    /The members have not been opened yet: what is missing is known once all were\.\s*Open them/,
  );
  await show(page, 'Kernels across members');
  await expect(none).toContainText('The members have not been opened yet: no kernel was found so far.');
  await axe(page);
  await none.getByRole('button', { name: 'Open them' }).click();
  const across = page.getByRole('grid', { name: 'Kernels across members' });
  await expect(across.locator('.row')).toHaveCount(1, { timeout: 60_000 });
  await expect(across.locator('.title').last()).toContainText('compute_80');
  await expect(none).toHaveCount(0);
  await show(page, 'Summary');
  await expect(page.getByRole('table', { name: 'Architectures' })).toBeVisible();
  await expect(early).toHaveCount(0);
});

test('the table of architectures fits a narrow page', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('./');
  for (const file of [
    FATBIN,
    'tests/fixtures/container/package.whl',
    'tests/fixtures/amdgpu/con/three.ccob-v3-zstd.hipfb',
  ]) {
    await drop(page, file);
    await expect(title(page)).toHaveText(basename(file));
    const archs = page.getByRole('table', { name: 'Architectures' });
    await expect(archs.getByRole('columnheader')).toHaveText(['Architecture', 'Members', 'Size', 'Kernels']);
    const overhang = () => archs.evaluate((table) => table.scrollWidth - (table.parentElement?.clientWidth ?? 0));
    await expect.poll(overhang, file).toBeLessThanOrEqual(0);
    await expect(archs.locator('tbody td:first-child').first()).toContainText('machine code');
    await expect(archs.locator('tbody td:nth-child(3)').first()).toContainText(/stored [\d,]+/);
    await axe(page, file);
  }
});

test('architectures that are packed in several ways fit a narrow page, and what does not fit is reached by keyboard', async ({
  page,
}, testInfo) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('./');
  // Cubins for sm_80 as three compressions have them: nvcc's modes, and zip's.
  const of = (mode: string) => JSON.stringify(FATBIN.replace('default', mode));
  await dropZip(
    page,
    testInfo.outputPath('ways.zip'),
    `[z.writestr(n, open(p, 'rb').read()) for n, p in (('a', ${of('none')}), ('b', ${of('speed')}), ('c', ${of('default')}))]`,
    `z.writestr('d', open(${of('none')}, 'rb').read(), zipfile.ZIP_DEFLATED)`,
  );
  const archs = page.getByRole('table', { name: 'Architectures' });
  await expect(archs.locator('tbody tr').first()).toContainText('none, lz4, zstd, deflate');
  const wides = page.locator('kernel-scope-summary kernel-scope-wide');
  const around = wides.filter({ has: archs });
  await expect.poll(() => around.evaluate((wide) => wide.scrollWidth - wide.clientWidth)).toBe(0);
  await expect(around).not.toHaveAttribute('tabindex');
  // The table of members has more columns than that.
  const wide = wides.filter({ has: page.getByRole('table', { name: 'Members', exact: true }) });
  await expect(page.getByRole('region', { name: 'Members', exact: true })).toHaveAttribute('tabindex', '0');
  await axe(page);
  await wide.focus();
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => wide.evaluate(({ scrollLeft }) => scrollLeft)).toBeGreaterThan(0);
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect(wide).not.toHaveAttribute('role');
  await axe(page);
});

test('long names are told whole where they are cut off, and counts are in thousands', async ({
  page,
  context,
}, testInfo) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('./');
  const name = `${'long/'.repeat(300)}middle/${'path/'.repeat(300)}a.fatbin`;
  await dropZip(
    page,
    testInfo.outputPath('long.zip'),
    `z.writestr('${name}', open(${JSON.stringify(FATBIN)}, 'rb').read())`,
  );
  await show(page, 'Members');
  await page.getByLabel('Filter Members').fill('a.fatbin depth:0');
  await expect(members(page).locator('.row')).toHaveCount(1);
  const path = members(page).locator('.row .link').first();
  await expect(path).toHaveAttribute('title', `${name}\nOpen it in a tab of its own (Enter)`);
  await expect(path).toBeVisible();
  await expect(path).toContainText('…');
  await axe(page);
  // What is shown with commas is found, and copied, without.
  const size = (await readFile(FATBIN)).length;
  await page.getByLabel('Filter Members').fill(`stored_size:${size}`);
  await expect(members(page).locator('.row')).toHaveCount(1);
  await expect(members(page).locator('.row')).toContainText(size.toLocaleString('en'));
  await members(page).locator('.row .cell').nth(1).click();
  await page.keyboard.press('Control+c');
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(new RegExp(`\\b${size}\\b`));
});

test('a wheel says what its libraries have once they were opened', async ({ page }, testInfo) => {
  await page.goto('./');
  const program = 'tests/fixtures/nvidia/host/exe_two_arch.13.5';
  await dropZip(page, testInfo.outputPath('a.whl'), `z.write('${program}', 'a/lib.so', zipfile.ZIP_DEFLATED)`);
  const heading = page.locator('kernel-scope-identity');
  // What cuobjdump -lelf lists of the program: cubins for sm_75 and sm_90.
  await expect(heading.getByTitle('The findings')).toContainText('carries GPU code');
  await expect(facts(page)).toContainText('machine code for sm_75, sm_90');
  // What is long there takes nothing from a short name.
  await page.setViewportSize({ width: 1010, height: 800 });
  await expect.poll(() => title(page).evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
  await expect(facts(page)).toBeVisible();
});
