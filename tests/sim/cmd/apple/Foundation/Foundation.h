/* Declarations of Apple's Foundation that native/bench_gpu.m uses, after Apple's public documentation: enough for a compiler to
 * check names and types, not to build a program. */
#pragma once
#include <stdint.h>
#define nil ((id)0)
typedef unsigned long NSUInteger;
typedef double NSTimeInterval;
typedef NSUInteger NSStringEncoding;
enum { NSUTF8StringEncoding = 4 };
__attribute__((objc_root_class))
@interface NSObject
@end
@class NSError;
@interface NSString : NSObject
+ (instancetype)stringWithUTF8String:(const char *)text;
+ (instancetype)stringWithContentsOfFile:(NSString *)path encoding:(NSStringEncoding)encoding error:(NSError **)error;
@property(readonly) const char *UTF8String;
@end
@interface NSConstantString : NSString
@end
@interface NSError : NSObject
@property(readonly, copy) NSString *localizedDescription;
@end
@interface NSDate : NSObject
@property(class, readonly) NSTimeInterval timeIntervalSinceReferenceDate;
@end
