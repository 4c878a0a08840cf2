import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';

/** This machine, private networks, addresses of links (cloud metadata is one), and what is no single public host. */
const PRIVATE_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Public by their number, and reached only from inside of a cloud: the platform of Azure, and the service networks of IBM Cloud.
  '168.63.129.16/32',
  '161.26.0.0/16',
  '166.8.0.0/14',
];
/** Public hosts are in 2000::/3 alone. Addresses with an IPv4 address inside are refused whole: which one it is, a router decides. */
const PRIVATE_V6 = ['::/3', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '4000::/2', '8000::/1'];

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  return list;
}

/**
 * Whether a target may be at this address. What its owner allows is allowed, and nothing else that is not public. Without TLS only what its
 * owner allows is.
 */
export function isAllowed(address: string, allow: readonly string[], protocol = 'https:'): boolean {
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  const plain = address.split('%')[0]!;
  if (listOf(allow).check(plain, family)) return true;
  if (protocol !== 'https:') return false;
  // Each family by its own list: node also finds an IPv4 range in an address that maps it.
  return !listOf(family === 'ipv4' ? PRIVATE_V4 : PRIVATE_V6).check(plain, family);
}

/** Refuses a URL that names an address, or asks a public host in the clear. */
export function requireTarget(
  url: URL,
  allow: readonly string[],
  code: ReasonCode = 'NOTIFY_ADDRESS_DENIED',
): void {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isAllowed(host, allow, url.protocol))
    refuse(code, `${host} is not allowed.`, { address: host });
  if (url.protocol !== 'https:' && allow.length === 0) refuse(code, `${url.origin} has no TLS.`);
}

/** Resolves a name and lets only those answers through that may be connected to: what is checked is what is connected to. */
export function guardedLookup(
  { protocol }: Pick<URL, 'protocol'>,
  allow: readonly string[],
  code: ReasonCode = 'NOTIFY_ADDRESS_DENIED',
): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return done(error, '', 0);
      const bad = found.find(({ address }) => !isAllowed(address, allow, protocol));
      if (bad) {
        const words = `${hostname} is at ${bad.address}, which is not allowed${protocol === 'https:' ? '' : ' without TLS'}.`;
        return done(new Refusal(code, words, { address: bad.address }), '', 0);
      }
      const [first] = found;
      if (options.all) return (done as unknown as All)(null, found);
      return done(null, first!.address, first!.family);
    });
  };
}

type All = (error: null, found: readonly LookupAddress[]) => void;
