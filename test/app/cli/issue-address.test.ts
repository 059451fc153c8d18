import { describe, expect, it } from 'vitest';
import { parseIssueAddress } from '../../../app/cli/issue-address.ts';

describe('the address of an issue', () => {
  it.each([
    ['12', { number: 12 }],
    ['#12', { number: 12 }],
    ['acme/shop#12', { number: 12, repository: 'acme/shop' }],
    ['a.c-m_e/shop.js#1', { number: 1, repository: 'a.c-m_e/shop.js' }],
    ['https://github.com/acme/shop/issues/12', { number: 12, repository: 'acme/shop' }],
    ['http://127.0.0.1:4010/acme/shop/issues/12#issuecomment-1', { number: 12, repository: 'acme/shop' }],
  ])('%s is understood', (text, address) => {
    expect(parseIssueAddress(text)).toEqual(address);
  });

  it.each([
    '',
    '#',
    '0',
    '-1',
    '1.5',
    'shop#1',
    'acme/shop',
    'acme/shop/more#1',
    '99999999999',
    '1; rm -rf /',
  ])('%j is refused', (text) => {
    expect(() => parseIssueAddress(text)).toThrow(/Write an issue as/);
  });
});
